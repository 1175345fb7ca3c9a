#!/bin/sh
# The bwrap target for real: the file with bwrap alone, and under sbxrun, as root and as uid 1001.
# Usage: tests/bwrap/run.sh [BUILD]
#
# Beside every grant stands a canary that no launch may read, change or remove. All files are made in a fresh
# folder that is removed at the end.
#
# shellcheck disable=SC2317 # functions are called by check, says and complains
# shellcheck disable=SC2016 # what stands in single quotes is expanded inside the sandbox
set -u
export LC_ALL=C

build=${1:-build/release}
here=$(dirname "$0")
passed=0
failed=0
skipped=0

ok() {
    echo "ok $1"
    passed=$((passed + 1))
}
bad() {
    echo "FAIL $1: $2"
    failed=$((failed + 1))
}
skip() {
    echo "skip $1: $2"
    skipped=$((skipped + 1))
}
finish() {
    echo "bwrap: $passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
    exit
}

bwrap=
for place in /usr/bin/bwrap /usr/local/bin/bwrap /bin/bwrap; do
    [ -n "$bwrap" ] || [ ! -x "$place" ] || bwrap=$place
done
if [ -z "$bwrap" ]; then
    skip bwrap "bubblewrap is not installed"
    finish
fi

t=$(mktemp -d)
started=
trap '[ -z "$started" ] || kill -9 $started 2>/dev/null; rm -rf "$t"' EXIT
chmod 755 "$t"
cp "$build/sbxc" "$build/sbxrun" "$t/" && cp "$bwrap" "$t/own-bwrap" || exit 1
cc -O1 -Isrc -o "$t/filter" "$here/filter.c" "$build/gen/filters.c" || exit 1
cc -O1 -DBWRAP="\"$bwrap\"" -o "$t/tool-hangs" "$here/tool.c" && cp "$t/tool-hangs" "$t/tool-ends" || exit 1
"$t/filter" none > "$t/none.bpf"
"$t/filter" open > "$t/open.bpf"

# The user under test: run as OTHER when the suite runs as root.
OTHER=1001
me=$(id -u)
as() {
    if [ "$user" = "$me" ]; then
        "$@"
    else
        setpriv --reuid "$user" --regid "$user" --clear-groups -- "$@"
    fi
}

# ---- A tree for one user -----------------------------------------------------------------------------

make_tree() {
    w=$t/$user
    mkdir "$w" "$w/in" "$w/out" "$w/real" "$w/nest" "$w/nest/out" "$w/odd"
    echo granted > "$w/in/file"
    echo before > "$w/out.txt"
    ln -s real "$w/link"
    echo canary > "$w/canary"
    odd=$(printf '%s/odd/a b"c\\d,e:f\n--bind\n' "$w")
    mkdir "$odd" "$w/odd/--share-net" "$w/odd/$(printf '\303\251\377')"
    cat > "$w/p.sbx" << EOF
profile demo {
  read "$w/in" "$w/nest"
  write "$w/out.txt" "$w/out" "$w/link" "$w/nest/out"
  write "$w/odd/a b\"c\\\\d,e:f\\n--bind" "$w/odd/--share-net" "$w/odd/\\xc3\\xa9\\xff"
  env { allow "KEPT"; set EMPTY ""; set WORD "--" }
  timeout 20s
}
EOF
    sed 's/^}/  network open\n}/' "$w/p.sbx" > "$w/open.sbx"
    [ "$user" = "$me" ] || chown -R "$user:$user" "$w"
    "$t/sbxc" "$w/p.sbx" -o "$w/p.bwrap" && "$t/sbxc" "$w/open.sbx" -o "$w/open.bwrap"
}

# run FILE COMMAND...: under sbxrun, in the granted folder.
run() {
    file=$1
    shift
    (cd "$w/in" && as timeout -s KILL 60 "$t/sbxrun" "$file" -- "$@")
}
# alone FILE FILTER COMMAND...: bwrap alone. POSIX sh has no descriptors of two digits, hence bash.
alone() {
    file=$1
    bpf=$2
    shift 2
    (cd "$w/in" && as timeout -s KILL 60 bash -c 'f=$1 b=$2; shift 2; exec "$@" 9< "$f" 11< "$b"' - \
        "$file" "$bpf" "$bwrap" --args 9 -- "$@")
}
# with NAME=VALUE HOW...: with that variable in the caller's environment.
with() (
    # shellcheck disable=SC2163 # the operand is NAME=VALUE
    export "$1"
    shift
    "$@"
)

# check NAME STATUS HOW...: HOW ends with that status.
check() {
    name="$user/$1"
    want=$2
    shift 2
    "$@" > "$t/stdout" 2> "$t/stderr"
    got=$?
    if [ "$got" = "$want" ]; then
        ok "$name"
    else
        bad "$name" "status $got, not $want: $(head -c 300 "$t/stderr" | tr '\n' ' ')"
    fi
}
# says NAME TEXT HOW...: HOW succeeds and prints that.
says() {
    name="$user/$1"
    want=$2
    shift 2
    got=$("$@" 2> "$t/stderr")
    if [ "$got" = "$want" ]; then
        ok "$name"
    else
        bad "$name" "printed '$got', not '$want': $(head -c 300 "$t/stderr" | tr '\n' ' ')"
    fi
}
# complains NAME STATUS TEXT HOW...: HOW ends with that status and TEXT is in its messages.
complains() {
    name="$user/$1"
    want=$2
    text=$3
    shift 3
    "$@" > "$t/stdout" 2> "$t/stderr"
    got=$?
    if [ "$got" = "$want" ] && grep -q -e "$text" "$t/stderr"; then
        ok "$name"
    else
        bad "$name" "status $got, not $want, or no '$text' in: $(head -c 300 "$t/stderr" | tr '\n' ' ')"
    fi
}

# holds NAME WHY-NOT TEST...
holds() {
    name="$user/$1"
    why=$2
    shift 2
    if "$@"; then
        ok "$name"
    else
        bad "$name" "$why"
    fi
}

# ---- What holds with bwrap alone and under sbxrun ------------------------------------------------------

launch() {
    case $mode in
    alone) alone "$w/p.bwrap" "$t/none.bpf" "$@" ;;
    sbxrun) run "$w/p.bwrap" "$@" ;;
    esac
}

probes() {
    mode=$1
    says "$1-read" granted launch cat "$w/in/file"
    check "$1-write" 0 launch sh -c "echo new > '$w/out/a' && mv '$w/out/a' '$w/out/b' && rm '$w/out/b'"
    check "$1-write-file" 0 launch sh -c "echo after > '$w/out.txt'"
    check "$1-write-beneath-read" 0 launch touch "$w/nest/out/x"
    check "$1-read-is-no-write" 1 launch touch "$w/in/x"
    check "$1-parent-of-write" 1 launch touch "$w/nest/x"
    check "$1-link-name" 0 launch touch "$w/link/by-link"
    check "$1-link-target" 0 launch touch "$w/real/by-target"
    says "$1-siblings-hidden" "in link nest odd out out.txt real" launch sh -c "cd '$w' && echo *"
    check "$1-odd-names" 0 launch touch "$odd/x" "$w/odd/--share-net/x" "$w/odd/$(printf '\303\251\377')/x"
    check "$1-canary-read" 1 launch cat "$w/canary"
    check "$1-canary-remove" 1 launch rm "$w/canary"
    check "$1-canary-rename" 1 launch mv "$w/canary" "$w/out/canary"
    check "$1-canary-link" 1 launch ln "$w/canary" "$w/out/canary"
    check "$1-canary-by-dots" 1 launch cat "$w/out/../canary"
    for place in / /dev /proc /usr /etc "$w" "$t"; do
        check "$1-no-write$place" 1 launch touch "$place/x"
    done
    check "$1-no-proc-write" 1 launch sh -c '(echo 500 > /proc/self/oom_score_adj) || exit 1'
    check "$1-sinks" 0 launch sh -c 'echo x > /dev/null && head -c 4 /dev/zero && head -c 4 /dev/urandom'
    check "$1-no-terminal-device" 1 launch test -e /dev/tty
    check "$1-dev-fd" 0 launch sh -c 'echo x | cat /dev/fd/0 /dev/stdin'
    says "$1-tmpdir" "700 700" launch sh -c 'echo $(stat -c %a "$TMPDIR" "$HOME")'
    check "$1-tmpdir-write" 0 launch sh -c 'touch "$TMPDIR/sbx-mark" "$HOME/sbx-mark"'
    check "$1-shm-write" 0 launch touch /dev/shm/sbx-mark
    says "$1-uid" "$user" launch id -u
    says "$1-no-capabilities" "0" launch sh -c "grep ^Cap /proc/self/status | grep -vc 0000000000000000 || :"
    says "$1-no-new-privs" 1 launch sh -c "sed -n 's/^NoNewPrivs:.//p' /proc/self/status"
    says "$1-filter" 2 launch sh -c "sed -n 's/^Seccomp:.//p' /proc/self/status"
    says "$1-own-processes" 0 launch sh -c "[ \$(ls /proc | grep -c '^[0-9]') -lt 8 ]; echo \$?"
    check "$1-no-nested-namespace" 1 launch unshare --user true
    says "$1-set" -- launch sh -c 'echo "$WORD"'
    if [ -x /usr/bin/python3 ]; then
        check "$1-no-tcp-socket" 1 launch python3 -c 'import socket; socket.socket()'
        check "$1-no-unix-socket" 1 launch python3 -c 'import socket; socket.socket(socket.AF_UNIX)'
    else
        skip "$user/$1-sockets" "no /usr/bin/python3"
    fi
}

after_probes() {
    holds "$1-canary-untouched" "it was changed" test "$(cat "$w/canary")" = canary
    holds "$1-canary-unmoved" "a copy stands in a grant" test ! -e "$w/out/canary"
    left=$(find /tmp /var/tmp /dev/shm -maxdepth 2 -name sbx-mark 2> /dev/null)
    holds "$1-nothing-left" "$left" test -z "$left"
    holds "$1-write-file-arrived" "the host's file is the old one" test "$(cat "$w/out.txt")" = after
    holds "$1-link-name-arrived" "the host has no such file" test -e "$w/real/by-link"
    holds "$1-link-target-arrived" "the host has no such file" test -e "$w/real/by-target"
    rm -f "$w/real/by-link" "$w/real/by-target"
    echo before > "$w/out.txt"
}

alone_tests() {
    complains alone-fails-loudly 1 "seccomp data" bash -c "exec '$bwrap' --args 9 -- true 9< '$w/p.bwrap' 11<&-"
    probes alone
    after_probes alone
    if [ -x /usr/bin/python3 ]; then
        check alone-open-tcp-socket 0 alone "$w/open.bwrap" "$t/open.bpf" python3 -c 'import socket; socket.socket()'
        check alone-open-no-unix-socket 1 alone "$w/open.bwrap" "$t/open.bpf" \
            python3 -c 'import socket; socket.socket(socket.AF_UNIX)'
    fi
}

# ---- sbxrun --------------------------------------------------------------------------------------------

statuses() {
    check status-0 0 run "$w/p.bwrap" true
    check status-own 42 run "$w/p.bwrap" sh -c 'exit 42'
    check status-1 1 run "$w/p.bwrap" sh -c 'exit 1'
    check status-125 125 run "$w/p.bwrap" sh -c 'exit 125'
    check status-signal 137 run "$w/p.bwrap" sh -c 'kill -9 $$'
    check status-not-found 127 run "$w/p.bwrap" no-such-program
    check status-not-executable 126 run "$w/p.bwrap" "$w/in/file"
    sed 's/timeout 20s/timeout 500ms/' "$w/p.sbx" > "$w/short.sbx"
    "$t/sbxc" "$w/short.sbx" -o "$w/short.bwrap" 2> /dev/null
    check status-timeout 124 run "$w/short.bwrap" sleep 30
    # 124 may be a command's own: only the line tells.
    if grep -q '^sbxrun: timeout: .*500ms' "$t/stderr"; then
        ok "$user/status-timeout-said"
    else
        bad "$user/status-timeout-said" "$(head -c 300 "$t/stderr")"
    fi
    check status-timeout-deaf 124 run "$w/short.bwrap" sh -c 'trap "" TERM INT HUP; sleep 30 & wait; sleep 30'
    check status-timeout-stopped 124 run "$w/short.bwrap" sh -c 'kill -STOP $$'
}

environment() {
    says environment-passed kept with KEPT=kept with DROPPED=no run "$w/p.bwrap" sh -c 'echo "$KEPT$DROPPED"'
    says environment-empty-value set run "$w/p.bwrap" sh -c 'echo "${EMPTY-un}${EMPTY+set}"'
    check environment-of-pid-1 0 with DROPPED=secret run "$w/p.bwrap" sh -c '! grep -q secret /proc/1/environ'
}

descriptors() {
    exec 8< "$w/canary"
    check descriptor-inherited 2 run "$w/p.bwrap" sh -c 'cat <&8'
    exec 8<&-
    # 0, 1, 2 and the one that ls itself opens.
    says descriptors-closed "0 1 2 3" run "$w/p.bwrap" sh -c 'echo $(ls /proc/self/fd)'
}

# The file and what it names, changed after the compiler has looked.
changes() {
    for bytes in 1 100 1000; do
        head -c -$bytes "$w/p.bwrap" > "$w/cut.bwrap"
        complains "cut-by-$bytes" 125 "^sbxrun: " run "$w/cut.bwrap" touch "$w/out/ran"
    done
    for word in unshare-net ro-bind cap-drop; do
        sed "s/--$word/--xx$word/" "$w/p.bwrap" > "$w/changed.bwrap"
        complains "changed-$word" 125 "^sbxrun: " run "$w/changed.bwrap" touch "$w/out/ran"
    done
    sed 's/timeout-ms=20000/timeout-ms=90000/' "$w/p.bwrap" > "$w/changed.bwrap"
    complains changed-run-section 125 "^sbxrun: " run "$w/changed.bwrap" touch "$w/out/ran"

    mv "$w/real" "$w/moved" && ln -s "$t" "$w/real"
    complains grant-became-link 125 "^sbxrun: grant: " run "$w/p.bwrap" touch "$w/out/ran"
    rm "$w/real" && mv "$w/moved" "$w/real"
    mv "$w/out.txt" "$w/moved" && mkdir "$w/out.txt"
    complains grant-became-folder 125 "^sbxrun: grant: " run "$w/p.bwrap" touch "$w/out/ran"
    rmdir "$w/out.txt"
    complains grant-missing 125 "^sbxrun: grant: " run "$w/p.bwrap" touch "$w/out/ran"
    mv "$w/moved" "$w/out.txt"
    holds changes-nothing-ran "a refused command ran" test ! -e "$w/out/ran"
}

tools() {
    cat > "$t/path/bwrap" << EOF
#!/bin/sh
touch "$w/out/by-path"
EOF
    chmod 755 "$t/path/bwrap"
    # It has a --help, and no such option in it.
    complains tool-without-bind-fd 125 "has no --bind-fd" \
        as "$t/sbxrun" --cwd "$w/in" --tool /bin/true "$w/p.bwrap" -- true
    complains tool-missing 125 "^sbxrun: host: " as "$t/sbxrun" --cwd "$w/in" --tool /nonexistent "$w/p.bwrap" -- true
    check tool-not-by-path 0 with PATH="$t/path:$PATH" run "$w/p.bwrap" true
    holds tool-path-unused "bwrap came from PATH" test ! -e "$w/out/by-path"
}

# In a user namespace where root has no number nobody can say whose the system's own links are.
unknown_root() {
    if [ ! -L /bin ]; then
        skip "$user/unknown-root" "/bin is no link here"
    elif ! as "$bwrap" --unshare-user --uid 1001 --gid 1001 --dev-bind / / true 2> /dev/null; then
        skip "$user/unknown-root" "no user namespace can be made"
    else
        complains unknown-root-is-said 125 '^sbxrun: grant: read "/bin"' \
            as "$bwrap" --unshare-user --uid 1001 --gid 1001 --dev-bind / / \
            sh -c "cd '$w/in' && exec '$t/sbxrun' '$w/p.bwrap' -- sh -c 'exit 0'"
    fi
}

# What the command could exchange under the names of what runs.
own_names() {
    ln -s "$w/p.bwrap" "$w/out/link.bwrap"
    complains artifact-by-link-in-grant 125 "^sbxrun: self-writable: " run "$w/out/link.bwrap" touch "$w/out/ran"
    rm "$w/out/link.bwrap"
    ln "$w/p.bwrap" "$w/out/hard.bwrap"
    complains artifact-with-hard-link 125 "hard links" as_owner run "$w/p.bwrap" touch "$w/out/ran"
    rm "$w/out/hard.bwrap"
    ln -s "$bwrap" "$w/out/link"
    complains tool-by-link-in-grant 125 "^sbxrun: self-writable: .* tool" \
        as "$t/sbxrun" --cwd "$w/in" --tool "$w/out/link" "$w/p.bwrap" -- touch "$w/out/ran"
    rm "$w/out/link"
    ln -s "$t/sbxrun" "$w/out/link"
    complains sbxrun-by-link-in-grant 125 "^sbxrun: self-writable: .* sbxrun" \
        as "$w/out/link" --cwd "$w/in" "$w/p.bwrap" -- touch "$w/out/ran"
    rm "$w/out/link"
    holds own-names-nothing-ran "a refused command ran" test ! -e "$w/out/ran"
}
# The artifact belongs to the user while this runs.
as_owner() {
    chown "$user" "$w/p.bwrap"
    "$@"
    status=$?
    chown "$me" "$w/p.bwrap"
    return "$status"
}

# alive MARK: how many processes have the mark in their command line.
alive() {
    n=0
    for f in /proc/[0-9]*/cmdline; do
        { tr '\0' ' ' < "$f"; } 2> /dev/null | grep -q -e "^sleep $1" && n=$((n + 1))
    done
    echo $n
}
wait_gone() {
    tries=0
    while [ "$(alive "$1")" != 0 ] && [ "$tries" -lt 30 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    alive "$1"
}

processes() {
    check background-child 0 run "$w/p.bwrap" sh -c 'setsid sleep 311.5 & exit 0'
    holds background-child-gone "it lives on" test "$(alive 311.5)" = 0

    (cd "$w/in" && as "$t/sbxrun" "$w/p.bwrap" -- sh -c 'setsid sleep 312.5 & sleep 312.5') 2> /dev/null &
    started=$!
    tries=0
    while [ "$(alive 312.5)" -lt 2 ] && [ "$tries" -lt 50 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    holds killed-runtime-started "the command did not start" test "$(alive 312.5)" = 2
    # The subshell and setpriv both became sbxrun by exec, or are its parents: find it by its name.
    for p in $started $(cat "/proc/$started/task/$started/children" 2> /dev/null); do
        [ "$(cat "/proc/$p/comm" 2> /dev/null)" = sbxrun ] && kill -9 "$p"
    done
    wait "$started" 2> /dev/null
    started=
    holds killed-runtime-nothing-left "processes outlive sbxrun" test "$(wait_gone 312.5)" = 0
}

# ours: the processes that run this suite's own copies of bwrap and sbxrun.
ours() {
    for f in /proc/[0-9]*/exe; do
        case $(readlink "$f" 2> /dev/null) in
        "$t/own-bwrap" | "$t/tool-hangs" | "$t/sbxrun")
            p=${f#/proc/}
            echo "${p%/exe}"
            ;;
        esac
    done
}

# end_strays NAME: there are none, soon.
end_strays() {
    tries=0
    while [ -n "$(ours)" ] && [ "$tries" -lt 30 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    left=$(ours)
    holds "$1" "processes are left" test -z "$left"
    for p in $left; do # they would hold our standard output for ever
        kill -9 "$p"
    done
}

# in_group SIGNAL-FUNCTION COMMAND...: sbxrun as leader of a group of its own; its number is in $started.
in_group() {
    act=$1
    shift
    set -- setsid "$t/sbxrun" --tool "$t/own-bwrap" --cwd "$w/in" "$w/p.bwrap" -- "$@"
    [ "$user" = "$me" ] || set -- setpriv --reuid "$user" --regid "$user" --clear-groups -- "$@"
    rm -f "$w/out/ready"
    "$@" 2> /dev/null &
    started=$!
    tries=0
    while [ ! -e "$w/out/ready" ] && [ "$tries" -lt 50 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    $act
    wait "$started" 2> /dev/null
    got=$?
    started=
    return "$got"
}
term_group() {
    kill -TERM -"$started"
}
window_changed() {
    kill -WINCH "$started"
}
stop_group_and_kill() {
    kill -STOP -"$started"
    kill -9 "$started"
}

# Signals to the whole group, as from a terminal, meet sbxrun alone.
groups() {
    check group-term-forwarded 7 in_group term_group \
        sh -c "trap 'exit 7' TERM; touch '$w/out/ready'; sleep 314.5 & wait"
    check window-size-forwarded 7 in_group window_changed \
        sh -c "trap 'exit 7' WINCH; touch '$w/out/ready'; sleep 5 & wait"
    check group-stopped-and-killed 137 in_group stop_group_and_kill sh -c "touch '$w/out/ready'; sleep 314.5"
    end_strays group-stopped-nothing-left
}

# sbxrun killed at every moment of the set-up: bwrap must not be left half-way.
killed_early() {
    set --
    [ "$user" = "$me" ] || set -- setpriv --reuid "$user" --regid "$user" --clear-groups --
    i=0
    while [ $i -lt 60 ]; do
        "$@" "$t/sbxrun" --tool "$t/own-bwrap" --cwd "$w/in" "$w/p.bwrap" -- sleep 313.5 2> /dev/null &
        started=$!
        sleep "$(printf '0.%04d' $((i * 4)))"
        kill -9 "$started"
        wait "$started" 2> /dev/null
        started=
        i=$((i + 1))
    done
    end_strays killed-early-nothing-left
    holds killed-early-command-gone "the command lives on" test "$(alive 313.5)" = 0
}

# A bwrap that comes to no sandbox.
broken_tools() {
    complains tool-ends 125 "^sbxrun: stage: the sandbox ended by status 1 without a word" \
        as "$t/sbxrun" --tool "$t/tool-ends" --cwd "$w/in" "$w/p.bwrap" -- true
    check tool-hangs 124 \
        as timeout -s KILL 20 "$t/sbxrun" --timeout 300ms --tool "$t/tool-hangs" --cwd "$w/in" "$w/p.bwrap" -- true
    holds tool-hangs-nothing-left "processes are left" test -z "$(ours)"
}

many_grants() {
    mkdir "$w/many"
    {
        echo 'profile many {'
        i=0
        while [ $i -lt 400 ]; do
            mkdir "$w/many/$i"
            echo "read \"$w/many/$i\""
            i=$((i + 1))
        done
        echo '}'
    } > "$w/many.sbx"
    [ "$user" = "$me" ] || chown -R "$user:$user" "$w/many"
    "$t/sbxc" "$w/many.sbx" -o "$w/many.bwrap"
    says many-grants 400 as sh -c "ulimit -Sn 256; exec '$t/sbxrun' --cwd '$w/many' '$w/many.bwrap' -- sh -c 'ls | wc -l'"
    complains many-grants-hard-limit 125 "hard limit is 256" \
        as sh -c "ulimit -n 256; exec '$t/sbxrun' --cwd '$w/many' '$w/many.bwrap' -- true"
}

terminal() {
    if ! command -v script > /dev/null; then
        skip "$user/terminal" "no script(1)"
        return
    fi
    check terminal-kept 0 as script -qec "cd '$w/in' && '$t/sbxrun' '$w/p.bwrap' -- sh -c 'test -t 0 && stty -echo'" /dev/null < /dev/null
    check terminal-no-device 1 as script -qec "cd '$w/in' && '$t/sbxrun' '$w/p.bwrap' -- test -e /dev/tty" /dev/null < /dev/null
}

core() {
    printf 'profile main { trust core }\n' > "$w/core.sbx"
    "$t/sbxc" --trust-core "$w/core.sbx" -o "$w/core.bwrap" 2> /dev/null || bad "$user/core-compiles" "it does not"
    says core-unconfined canary run "$w/core.bwrap" cat "$w/canary"
    check core-alone 0 sh -c "exec '$bwrap' --args 9 -- cat '$w/canary' 9< '$w/core.bwrap'"
    printf 'profile main { trust core; timeout 500ms }\n' > "$w/core.sbx"
    "$t/sbxc" --trust-core "$w/core.sbx" -o "$w/core.bwrap" 2> /dev/null
    check core-timed 124 run "$w/core.bwrap" sleep 30
}

# As root: the command owns the nodes of the device sinks, which are the host's.
sinks() {
    before=$(stat -c '%n %a %u:%g %Y' /dev/null /dev/zero /dev/full /dev/random /dev/urandom)
    for act in "chmod 600" "chown 1" "chgrp 1" "touch -d 2001-01-01"; do
        check "sinks-no-${act%% *}" 1 run "$w/p.bwrap" sh -c "$act /dev/full"
    done
    after=$(stat -c '%n %a %u:%g %Y' /dev/null /dev/zero /dev/full /dev/random /dev/urandom)
    holds sinks-unchanged "$after" test "$before" = "$after"
    if [ "$before" != "$after" ]; then
        chmod 666 /dev/full
        chown 0:0 /dev/full
    fi
    holds sinks-of-the-host-writable "it is not" sh -c 'echo x > /dev/null'
}

# As root: a grant that became a link, where only root could have made it: followed for presets alone.
links_of_root() {
    cat > "$t/links.sh" << EOF
mount -t tmpfs -o mode=755 t /mnt && mkdir /mnt/g /mnt/other && echo canary > /mnt/other/file || exit 99
printf 'profile main { read "/mnt/g" }' > /mnt/p.sbx
"$t/sbxc" /mnt/p.sbx -o /mnt/p.bwrap || exit 98
rmdir /mnt/g && ln -s other /mnt/g
exec "$t/sbxrun" --cwd / /mnt/p.bwrap -- cat /mnt/g/file
EOF
    complains grant-became-link-of-root 125 "^sbxrun: grant: " unshare -m sh "$t/links.sh"
}

# As root: a mount beneath a granted folder is read-only like the folder itself.
submount() {
    mkdir "$w/in/sub"
    check submount-read-only 1 unshare -m sh -c "mount -t tmpfs t '$w/in/sub' && '$t/sbxrun' --cwd '$w/in' '$w/p.bwrap' -- \
        sh -c 'test -d \"$w/in/sub\" && mountpoint -q \"$w/in/sub\" && touch \"$w/in/sub/x\"'"
    rmdir "$w/in/sub"
}

mkdir "$t/path"
users=$me
[ "$me" = 0 ] && users="0 $OTHER"
for user in $users; do
    make_tree || { bad "$user/compile" "sbxc failed"; continue; }
    alone_tests
    probes sbxrun
    after_probes sbxrun
    statuses
    environment
    descriptors
    changes
    tools
    unknown_root
    own_names
    processes
    groups
    killed_early
    broken_tools
    many_grants
    terminal
    core
    if [ "$user" = 0 ] && unshare -m true 2> /dev/null; then
        submount
        links_of_root
        sinks
    elif [ "$user" = 0 ]; then
        skip 0/mounts "no mount namespace can be made here"
    fi
done
[ "$me" = 0 ] || skip root "the root half needs root"
finish
