#!/bin/sh
# sbxrun with a .sb file: how it calls sandbox-exec, and what it makes of its end. There is no macOS here, so
# a stand-in takes the words, writes them down and starts the command; nothing is confined.
# Prints `ok NAME` or `FAIL NAME: why`. Usage: engine.sh BUILD
# shellcheck disable=SC2016 # what is in single quotes is for the shell inside, or a message's own quotes
set -u
build=$(cd "$1" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/tool" "$work/in" "$work/out" "$work/in/sub"
sandbox_exec=$work/tool/sandbox-exec

# Its behaviour is in the file `mode`, since its environment is not the caller's. The trial run is told from
# the real one by the program, which cannot exist.
cat >"$sandbox_exec" <<'END'
#!/bin/sh
seen=$(dirname "$0")
for word in "$@"; do
    printf '%s\n' "$word"
done >"$seen/words"
[ "$#" -ge 6 ] && [ "$1" = -p ] && [ "$3" = -D ] && [ "$5" = -- ] || exit 64
printf '%s' "$2" >"$seen/profile"
printf '%s' "$4" >"$seen/define"
shift 5
case $(cat "$seen/mode") in
65) echo "sandbox-exec: unbound variable: x at <input string>, line 3" >&2 && exit 65 ;;
apply) echo "sandbox-exec: sandbox_apply: Operation not permitted" >&2 && exit 71 ;;
true) exit 0 ;;
usage) exit 64 ;;
esac
if ! [ -x "$1" ]; then
    echo "sandbox-exec: execvp() of '$1' failed: No such file or directory" >&2
    exit 71
fi
exec "$@"
END
chmod 755 "$work" "$sandbox_exec"

policy() {
    printf 'profile p {\n  read "/usr" "/bin" "/lib" "/lib64"\n  read "%s"\n%s\n}\n' "$work/in" "$2" >"$work/$1.sbx"
    shift 2
    "$build/sbxc" -t seatbelt "$@" 2>"$work/err" || echo "FAIL compile: $(grep -m 1 error "$work/err")"
}
policy run "  env { allow \"KEEP\"; set FIXED \"a b\" }; timeout 2s" "$work/run.sbx" -o "$work/run.sb"
policy slow "  timeout 300ms" "$work/slow.sbx" -o "$work/slow.sb"
policy write "  write \"$work/out\"" "$work/write.sbx" -o "$work/write.sb"
policy tool "  write \"$work/tool\"" "$work/tool.sbx" -o "$work/tool.sb"
policy core "  trust core" --trust-core "$work/core.sbx" -o "$work/core.sb"

# Runs sbxrun in a granted folder; sets status, and leaves out and err in files.
sbx() {
    artifact=$1
    shift
    (cd "$work/in/sub" && exec timeout -k 5 20 "$build/sbxrun" --tool "$sandbox_exec" "$work/$artifact.sb" -- "$@") \
        >"$work/stdout" 2>"$work/stderr" </dev/null
    status=$?
}

is() {
    if [ "$2" = "$3" ]; then
        echo "ok $1"
    else
        echo "FAIL $1: expected '$3', got '$2' ($(head -n 1 "$work/stderr"))"
    fi
}

# The command never started: it would have made the canary.
not_started() {
    is "$1: status" "$status" "$2"
    if grep -q "$3" "$work/stderr" && [ "$(wc -l <"$work/stderr")" -eq 1 ]; then
        echo "ok $1: one line that says why"
    else
        echo "FAIL $1: one line that says why: $(cat "$work/stderr")"
    fi
    if [ -e "$work/out/canary" ]; then
        echo "FAIL $1: the command started"
        rm "$work/out/canary"
    else
        echo "ok $1: the command did not start"
    fi
}

# Private folders of runs that are still there.
left() {
    find /tmp -maxdepth 1 -regex '/tmp/sbx-[0-9a-f]*' -newer "$sandbox_exec" | wc -l
}

# ---- How it is called ---------------------------------------------------------------------------------
: >"$work/tool/mode"
touch -d '1 minute ago' "$sandbox_exec"
KEEP=kept SECRET=secret sbx run sh -c 'env; echo "pwd $(pwd)"; stat -c "mode %a" "$TMPDIR" "$HOME"
    echo x >"$HOME/f"; echo "fds $(ls /proc/self/fd | tr "\n" " ")"; printf "%s\n" "$0" "$@"' 'a b' '' '-x' '*'
is "runs" "$status" 0
# From the second form on: the digest line and its like are not handed on.
sed -n '/^(version 1)$/,$p' "$work/run.sb" >"$work/expected"
is "profile is the artifact's" "$(cat "$work/tool/profile")" "$(cat "$work/expected")"
is "-D comes behind it" "$(sed -n '/^-D$/{n;p}' "$work/tool/words" | cut -c 1-16)" "TMPDIR=/tmp/sbx-"
is "command by its own path" "$(sed -n '/^--$/{n;p}' "$work/tool/words")" "$(realpath /bin/sh)"
is "arguments as they are" "$(tail -n 4 "$work/stdout" | tr '\n' '|')" "a b||-x|*|"
is "descriptors: 0, 1, 2 and that of ls" "$(grep '^fds' "$work/stdout")" "fds 0 1 2 3 "
is "TMPDIR and HOME are the user's alone" "$(grep -c '^mode 700$' "$work/stdout")" 2
is "TMPDIR is the parameter" "$(grep '^TMPDIR=' "$work/stdout")" "$(cat "$work/tool/define")"
is "HOME is in it" "$(grep '^HOME=' "$work/stdout")" "HOME=$(sed 's/^TMPDIR=//' "$work/tool/define")/home"
is "it is gone afterwards" "$(left)" 0
is "working folder" "$(grep '^pwd' "$work/stdout")" "pwd $(realpath "$work/in/sub")"
is "allowed value" "$(grep -c '^KEEP=kept$' "$work/stdout")" 1
is "set value" "$(grep -c '^FIXED=a b$' "$work/stdout")" 1
is "no other value" "$(grep -c secret "$work/stdout")" 0
is "PATH" "$(grep '^PATH=' "$work/stdout")" "PATH=/usr/local/bin:/usr/bin:/bin"

(cd "$work/in/sub" && exec "$build/sbxrun" --tool "$sandbox_exec" --cwd "$work/in" "$work/run.sb" -- pwd) \
    >"$work/stdout" 2>"$work/stderr" </dev/null
is "--cwd" "$(cat "$work/stdout")" "$(realpath "$work/in")"

# ---- Ends ---------------------------------------------------------------------------------------------
for n in 0 1 42 65 71 124 125 126 127; do
    sbx run sh -c "exit $n"
    is "the command's $n passes" "$status" "$n"
done
sbx run sh -c 'kill -KILL $$'
is "ended by a signal" "$status" 137
sbx slow sleep 20
is "deadline" "$status" 124
sbx slow sh -c 'trap "" TERM; while :; do sleep 1; done'
is "deadline, TERM ignored" "$status" 124
# A stray in a session of its own, beyond any process group. It tells its pid and never ends by itself.
stray="setsid sh -c 'echo \$\$; exec sleep 987' & sleep 0.2"
is_gone() {
    pid=$(head -n 1 "$work/stdout")
    if [ "$(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline")" = "sleep 987 " ]; then
        echo "FAIL $1: a process does"
        kill -KILL "$pid"
    else
        echo "ok $1"
    fi
}
sbx run sh -c "$stray"
is "normal end" "$status" 0
is_gone "nothing survives a normal end"
sbx slow sh -c "$stray; sleep 15"
is "deadline with a stray" "$status" 124
is_gone "nothing survives the deadline"
sbx run sh -c 'mkdir -p "$TMPDIR/a/b/c"; touch "$TMPDIR/a/b/f"; chmod 0 "$TMPDIR/a/b"; ln -s / "$TMPDIR/l"'
is "hostile content of TMPDIR" "$status" 0
is "it is gone too" "$(left)" 0

# ---- What never starts --------------------------------------------------------------------------------
make_canary="touch $work/out/canary"
sbx run nosuchcommand
not_started "not found" 127 'exec: `nosuchcommand`'
sbx run ./nosuchcommand
not_started "not found by path" 127 'exec: `./nosuchcommand`'
sbx run /usr/bin
not_started "a folder" 126 'exec: `/usr/bin`'
printf '#!/bin/sh\n%s\n' "$make_canary" >"$work/in/sub/plain"
sbx run ./plain
not_started "not executable" 126 'exec: `./plain`'
printf '#!/bin/sh\n%s\n' "$make_canary" >"$work/out/script"
chmod 755 "$work/out/script"
sbx run "$work/out/script"
not_started "not granted" 126 'exec: `'
cp /bin/true "$work/in/set-uid"
chmod 4755 "$work/in/set-uid"
sbx run "$work/in/set-uid"
not_started "set-uid" 126 'exec: `'
for mode in 65 apply true usage; do
    echo "$mode" >"$work/tool/mode"
    sbx run sh -c "$make_canary"
    case $mode in
    65) not_started "profile does not compile" 125 'host: .*unbound variable: x' ;;
    apply) not_started "profile cannot be applied" 125 'host: .*sandbox_apply' ;;
    *) not_started "tool is something else ($mode)" 125 'host: .*does not behave like sandbox-exec' ;;
    esac
done
: >"$work/tool/mode"
sbx tool sh -c "$make_canary"
not_started "write grant on the tool" 125 'self-writable: write '
sed 's|(subpath "/usr")|(subpath "/")|' "$work/run.sb" >"$work/damaged.sb"
sbx damaged sh -c "$make_canary"
not_started "damaged artifact" 125 'artifact: '
head -c 3000 "$work/run.sb" >"$work/short.sb"
sbx short sh -c "$make_canary"
not_started "cut artifact" 125 'artifact: '
(cd / && exec "$build/sbxrun" --tool "$sandbox_exec" --cwd "$work/out" "$work/run.sb" -- sh -c "$make_canary") \
    >"$work/stdout" 2>"$work/stderr" </dev/null
status=$?
not_started "working folder outside" 125 'workdir: '
"$build/sbxrun" "$work/run.sb" -- sh -c "$make_canary" >"$work/stdout" 2>"$work/stderr" </dev/null
status=$?
if [ -x /usr/bin/sandbox-exec ]; then
    echo "skip no tool at its place: this is macOS"
else
    not_started "no tool at its place" 125 'host: .*/usr/bin/sandbox-exec'
fi
is "no TMPDIR is left by any of them" "$(left)" 0

# ---- Granted trust ------------------------------------------------------------------------------------
rm -f "$work/tool/words"
SECRET=secret sbx core sh -c 'echo "$SECRET"; exit 3'
is "core runs as it is" "$status $(cat "$work/stdout")" "3 secret"
is "core needs no sandbox-exec" "$([ -e "$work/tool/words" ] && echo called)" ""
