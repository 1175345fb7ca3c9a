#!/bin/sh
# The command line of sbxc: exit statuses, and outputs that are whole or not at all. Then tests/cli/inputs.py:
# hostile and odd inputs, row by row. Usage: tests/cli/run.sh [BUILD]
#
# shellcheck disable=SC2317 # functions are called by `check`
# shellcheck disable=SC2013 # words, not lines
# shellcheck disable=SC2016 # backticks of messages
# shellcheck disable=SC2015 # A && B || C with a B that cannot fail
set -u
export LC_ALL=C

build=${1:-build/release}
here=$(cd "$(dirname "$0")" && pwd)
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

t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
# Another user has to get in too, whatever the umask of the caller and of the build.
umask 022
chmod 755 "$t"
cp "$build/sbxc" "$t/sbxc" && chmod 755 "$t/sbxc" || exit 1
cd "$t" || exit 1
mkdir data
printf 'system none\nread "data"\n' > good.sbx
printf 'system: none\nread: [data]\n' > good.yml
printf -- '---\nname: x\nfs_read: [data]\n---\n' > SKILL.md
printf 'raed "data"\n' > bad.sbx
printf 'read: [data]\n' > ceiling.yml
cp good.sbx odd-name

# Each run: at most 5 s, 1 MiB of stack, 512 MiB of address space. Sanitizers reserve terabytes of it.
limits='ulimit -c 0; ulimit -s 1024; ulimit -v 524288;'
seconds=5
if ! sh -c "$limits ./sbxc --version" > /dev/null 2>&1; then
    skip 'bounds of memory and stack' 'this build does not start within 512 MiB of address space'
    limits=
    seconds=60
fi

# run WORD...: status in $status, output in $t/stdout and $t/stderr
run() {
    status=0
    timeout $seconds sh -c "$limits exec ./sbxc \"\$@\"" sbxc "$@" > stdout 2> stderr || status=$?
}

# Everything that a run could have left or changed: names, bytes, times, inodes.
state() {
    find out -type d -printf '%p\n' | sort
    find out ! -type d -printf '%p %s %T@ %i %y %l\n' | sort
    find out -type f -exec cksum {} + | sort
}

# refused NAME STATUS TEXT WORD...: fails with that status, says TEXT, prints nothing, touches nothing in out/
refused() {
    name=$1 want=$2 text=$3
    shift 3
    state > before
    run "$@"
    state > after
    if [ "$status" != "$want" ]; then
        bad "$name" "status $status, not $want: $(head -n 3 stderr)"
    elif ! grep -qF -e "$text" stderr; then
        bad "$name" "does not say '$text': $(head -n 3 stderr)"
    elif [ -s stdout ]; then
        bad "$name" 'prints something all the same'
    elif ! cmp -s before after; then
        bad "$name" "changed: $(diff before after | head -n 4)"
    else
        ok "$name"
    fi
}

# made NAME FILE WORD...: status 0, and FILE is a new artifact alone
made() {
    name=$1 file=$2
    shift 2
    run "$@"
    if [ "$status" != 0 ]; then
        bad "$name" "status $status: $(head -n 3 stderr)"
    elif [ ! -s "$file" ]; then
        bad "$name" "$file was not made"
    elif [ -n "$(find . -name '*.??????' ! -name '*.docker' -newer good.sbx -type f)" ]; then
        bad "$name" "left $(find . -name '*.??????' ! -name '*.docker' -type f)"
    else
        ok "$name"
    fi
}

fresh() {
    rm -rf out
    mkdir out
    echo old > out/a.landlock
    echo old > out/a.bwrap
    touch -d '2001-02-03 04:05:06' out/a.landlock out/a.bwrap
}

# ---- Words ---------------------------------------------------------------------------------------------------
fresh
refused 'no words' 2 'which declaration?'
refused 'an unknown option' 2 'unknown option --frobnicate' --frobnicate good.sbx
refused 'an unknown option near a known one' 2 'did you mean --target?' --traget landlock good.sbx
refused 'an unknown letter' 2 'unknown option -Z' -Z good.sbx
refused 'an option without its value' 2 '--target needs a value' good.sbx --target
refused 'a letter without its value' 2 '-o needs a value' good.sbx -t landlock -o
refused 'a value for a flag' 2 '--strict takes no value' --strict=yes good.sbx
refused 'an option twice' 2 '--output is given twice' -t landlock -o out/a -o out/b good.sbx
refused 'no target' 2 'which target?' good.sbx -o out/plain
refused 'an unknown target' 2 'there is no target `jail`' -t jail good.sbx -o out/x
refused 'an empty target' 2 'there is no target' -t landlock, good.sbx -o out/x
refused 'a target twice' 2 'named twice' -t landlock,landlock good.sbx -o out/x
refused 'several targets without a prefix' 2 'several targets need -o PREFIX' -t landlock,bwrap good.sbx
refused 'several targets to standard output' 2 'several targets need -o PREFIX' -t landlock,bwrap good.sbx -o -
refused 'two declarations' 2 'one declaration at a time' -t landlock good.sbx good.yml -o out/x
refused 'a kind that is none' 2 '--from takes' --from toml -t landlock good.sbx -o out/x
refused 'a format that is none' 2 '--format takes' --format json -t landlock good.sbx -o out/x
refused 'a loss that is none' 2 'no loss of that name' --accept everything -t landlock good.sbx -o out/x
refused '-D without a value' 2 '-D takes NAME=PATH' -D HOME -t landlock good.sbx -o out/x
refused '-D of a relative path' 2 'must be an absolute path' -D HOME=x -t landlock good.sbx -o out/x
refused '-D TMPDIR' 2 'chosen when the program starts' -D TMPDIR=/tmp -t landlock good.sbx -o out/x
refused 'an empty --base' 2 '--base is empty' --base '' -t landlock good.sbx -o out/x
refused 'an empty --sysroot' 2 '--sysroot is empty' --sysroot '' -t landlock good.sbx -o out/x
refused 'a missing --sysroot' 2 'No such file' --sysroot none -t landlock good.sbx -o out/x
refused 'an image that is an option' 2 '--image takes' --image --privileged -t docker good.sbx -o out/x
refused 'a control byte on the command line' 2 'unknown option --\x1b[31m' "--$(printf '\033[31m')" good.sbx
refused 'a preset that is none' 2 'there is no preset' preset nope
refused 'dump of two targets' 2 'one target' dump -t landlock,bwrap good.sbx

# ---- Inputs --------------------------------------------------------------------------------------------------
refused 'a missing input' 2 'No such file' -t landlock none.sbx -o out/a.landlock
refused 'a folder as input' 2 'Is a directory' -t landlock --from dsl data -o out/a.landlock
refused 'an empty name' 2 'name of the declaration is empty' -t landlock '' -o out/a.landlock
refused 'a name without a kind' 2 'what kind of input' -t landlock odd-name -o out/a.landlock
refused 'standard input without a kind' 2 'what kind of input' -t landlock - -o out/a.landlock
refused 'input without end' 2 'larger than 16 MiB' -t landlock --from dsl /dev/zero -o out/a.landlock
refused 'a missing ceiling' 2 'No such file' --ceiling none.yml -t landlock good.sbx -o out/a.landlock
refused 'a ceiling without a kind' 2 'what kind of input' --ceiling odd-name -t landlock good.sbx -o out/a.landlock
refused 'a broken declaration' 1 'bad.sbx:1:1: error:' -t landlock bad.sbx -o out/a.landlock
refused 'a broken ceiling' 1 'bad.sbx:1:1: error:' --ceiling bad.sbx -t landlock good.sbx -o out/a.landlock
refused 'a profile that is none' 1 'there is no profile `q`' --profile q -t landlock good.sbx -o out/a.landlock
printf 'read "/"\n' > all.sbx
refused 'a warning under --strict' 1 '[grants-all]' --strict -t landlock all.sbx -o out/a.landlock
if [ "$(id -u)" = 0 ]; then
    skip 'an input that may not be read' 'root may read everything'
else
    cp good.sbx shut.sbx
    chmod 0 shut.sbx
    refused 'an input that may not be read' 2 'Permission denied' -t landlock shut.sbx -o out/a.landlock
fi

# Names that look like options or commands.
for name in -x.sbx --help.sbx dump fmt; do
    cp good.sbx "./$name"
done
made 'an option behind the operand' out/1.landlock good.sbx -t landlock -o out/1.landlock
made '--name=value' out/2.landlock --target=landlock --output=out/2.landlock good.sbx
made '-xVALUE' out/3.landlock -tlandlock -oout/3.landlock good.sbx
made 'a name behind --' out/4.landlock -t landlock -o out/4.landlock -- -x.sbx
made 'an option name behind --' out/5.landlock -t landlock -o out/5.landlock -- --help.sbx
made 'a name with ./' out/6.landlock -t landlock -o out/6.landlock ./-x.sbx
made 'a file named like a command' out/7.landlock --from dsl -t landlock -o out/7.landlock ./dump
made 'a file named like a command, behind an option' out/8.landlock --from dsl -t landlock -o out/8.landlock dump
made 'compile, spelt out' out/9.landlock compile good.sbx -o out/9.landlock
refused 'a command without its file' 2 'which declaration?' dump
refused 'an image of two words' 2 'name of an image' -t docker --image 'a b' good.sbx -o out/a.docker
refused 'a misspelt command' 2 'did you mean `dump`?' dmup good.sbx
refused 'an option name behind -- is a file' 2 'No such file' -t landlock -o out/x -- -t
# shellcheck disable=SC2094 # read and written are different files
{
    made 'standard input' out/10.landlock --from dsl -t landlock -o out/10.landlock - < good.sbx
    made 'standard input, yaml' out/11.landlock --from yaml -t landlock -o out/11.landlock - < good.yml
}
made 'the kind of --from, not of the suffix' out/12.landlock --from dsl -t landlock -o out/12.landlock odd-name
for n in 2 3 4 5 6 7 8 9 10 11 12; do
    cmp -s out/1.landlock out/$n.landlock && ok "the same bytes, $n" || bad "the same bytes, $n" 'differ'
done
made 'front matter' out/skill.landlock SKILL.md -o out/skill.landlock

run --help
if [ "$status" = 0 ] && [ ! -s stderr ] && grep -q '^usage: sbxc' stdout; then ok --help; else bad --help "status $status"; fi
for option in $(sed -n 's/^  \(-[a-zA-Z], \|    \)\(--[a-z-]*\) .*/\2/p' stdout); do
    run "$option=" good.sbx
    if [ "$status" != 0 ] && ! grep -q 'unknown option' stderr; then
        ok "--help lists $option, which is known"
    else
        bad "--help lists $option" "status $status: $(cat stderr)"
    fi
done
run --version
if [ "$status" = 0 ] && grep -q 'artifact format' stdout; then ok --version; else bad --version "status $status"; fi
run preset
for name in $(cat stdout); do
    run preset "$name"
    if [ "$status" = 0 ] && [ -s stdout ]; then ok "preset $name"; else bad "preset $name" "status $status"; fi
done

# ---- Outputs -------------------------------------------------------------------------------------------------
fresh
cp good.sbx in.sbx
ln in.sbx hard.sbx
ln -s in.sbx soft.sbx
refused 'the input as output' 2 'the output is the input' -t landlock in.sbx -o in.sbx
refused 'a hard link to the input' 2 'the output is the input' -t landlock in.sbx -o hard.sbx
refused 'a link to the input' 2 'the output is the input' -t landlock in.sbx -o soft.sbx
refused 'the input by another way' 2 'the output is the input' -t landlock in.sbx -o ./data/../in.sbx
refused 'dump onto the input' 2 'the output is the input' dump -t landlock in.sbx -o in.sbx
refused 'a ceiling as output' 2 'the output is a ceiling' --ceiling ceiling.yml -t landlock in.sbx -o ceiling.yml
refused 'dump onto a ceiling' 2 'the output is a ceiling' dump --ceiling ceiling.yml -t landlock in.sbx -o ceiling.yml
cp in.sbx in.landlock
refused 'the input as one of several outputs' 2 'the output is the input' --from dsl -t bwrap,landlock in.landlock -o in
rm -f in.bwrap
cmp -s good.sbx in.sbx && ok 'the input is as it was' || bad 'the input' 'was changed'
refused 'a folder as output' 2 'is a folder' -t landlock good.sbx -o out
refused 'a folder that is missing' 2 'cannot be made' -t landlock good.sbx -o out/none/x
refused 'a file as folder' 2 'cannot be looked at' -t landlock good.sbx -o out/a.landlock/x
refused 'an empty output' 2 '--output is empty' -t landlock good.sbx -o ''
ln -s nowhere out/dangling
ln -s loop out/loop
refused 'a link that leads nowhere' 2 'leads nowhere' -t landlock good.sbx -o out/dangling
refused 'a link to itself' 2 'cannot be looked at' -t landlock good.sbx -o out/loop
refused 'a full device' 2 'cannot be written' -t landlock good.sbx -o /dev/full
refused 'a full device for dump' 2 'cannot be written' dump -t landlock good.sbx -o /dev/full
refused 'refused when a target cannot' 1 '[no-image]' -t landlock,docker good.sbx -o out/a
mkdir out/b.bwrap
echo old > out/b.landlock
refused 'one of several is a folder' 2 'b.bwrap is a folder' -t landlock,bwrap good.sbx -o out/b
refused 'one of several is a folder, first' 2 'b.bwrap is a folder' -t bwrap,landlock good.sbx -o out/b
ln -s /dev/full out/c.bwrap
echo old > out/c.landlock
refused 'one of several is full' 2 'c.bwrap cannot be written' -t landlock,bwrap good.sbx -o out/c
echo old > out/d.landlock
ln -s d.landlock out/d.bwrap
refused 'two outputs are one file' 2 'are one file' -t landlock,bwrap good.sbx -o out/d
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
    chmod 755 out
    state > before
    status=0
    setpriv --reuid 1001 --regid 1001 --clear-groups timeout $seconds ./sbxc -t landlock good.sbx -o out/a.landlock 2> stderr || status=$?
    state > after
    if [ "$status" = 2 ] && cmp -s before after; then ok 'a folder that may not be written'; else bad 'a folder that may not be written' "status $status"; fi
else
    skip 'a folder that may not be written' 'only root can ask another user'
fi

# What succeeds.
fresh
chmod 600 out/a.landlock
made 'over an old artifact' out/a.landlock -t landlock good.sbx -o out/a.landlock
grep -q old out/a.landlock && bad 'the old artifact' 'is still there' || ok 'the old artifact is gone'
[ "$(stat -c %a out/a.landlock)" = 644 ] && ok 'the mode is that of a new file' || bad 'the mode' "$(stat -c %a out/a.landlock)"
made 'several targets' out/p.bwrap -t seatbelt,bwrap,landlock,docker --image x good.sbx -o out/p
[ "$(cd out && echo p.*)" = 'p.bwrap p.docker p.landlock p.sb' ] && ok 'one file a target' || bad 'one file a target' "$(ls out)"
cmp -s out/p.landlock out/a.landlock && bad 'docker image' 'is not in the run section' || ok 'the image is in every run section'
ln -s ../target.landlock out/link.landlock
echo old > target.landlock
made 'through a link' target.landlock -t landlock good.sbx -o out/link.landlock
[ -L out/link.landlock ] && cmp -s target.landlock out/a.landlock && ok 'the link is still one' || bad 'the link' 'was replaced'
run -t landlock good.sbx -o -
[ "$status" = 0 ] && cmp -s stdout out/a.landlock && ok 'standard output' || bad 'standard output' "status $status"
run -t landlock good.sbx
[ "$status" = 0 ] && cmp -s stdout out/a.landlock && ok 'standard output without -o' || bad 'standard output without -o' "status $status"
timeout $seconds ./sbxc -t landlock good.sbx -o /dev/stdout 2> stderr | cmp -s - out/a.landlock && ok '/dev/stdout' || bad /dev/stdout "$(cat stderr)"
mkfifo out/fifo
timeout $seconds cat out/fifo > got &
reader=$!
run -t landlock good.sbx -o out/fifo
wait $reader
[ "$status" = 0 ] && cmp -s got out/a.landlock && [ -p out/fifo ] && ok 'a FIFO is written in place' || bad 'a FIFO' "status $status"
status=0
timeout $seconds ./sbxc --help > /dev/full 2> stderr || status=$?
[ "$status" = 2 ] && ok '--help to a full device' || bad '--help to a full device' "status $status"
status=0
timeout $seconds ./sbxc -t landlock good.sbx -o - > /dev/full 2> stderr || status=$?
[ "$status" = 2 ] && ok 'standard output that is full' || bad 'standard output that is full' "status $status"
status=0
timeout $seconds ./sbxc -t landlock good.sbx -o - >&- 2> stderr || status=$?
[ "$status" = 2 ] && ok 'standard output that is closed' || bad 'standard output that is closed' "status $status"
fresh
timeout $seconds ./sbxc -t landlock good.sbx -o out/a.landlock < /dev/null >&- 2>&-
cmp -s out/a.landlock target.landlock && ok 'nothing is written into the artifact when descriptors are closed' || bad 'closed descriptors' 'another artifact'
if command -v script > /dev/null; then
    status=0
    timeout $seconds script -qec './sbxc -t landlock good.sbx' /dev/null < /dev/null > term 2>&1 || status=$?
    [ "$status" = 2 ] && grep -q 'this artifact is binary' term && ok 'a binary artifact is kept from a terminal' || bad 'a terminal' "status $status"
    status=0
    timeout $seconds script -qec './sbxc -t landlock --format text good.sbx' /dev/null < /dev/null > term 2>&1 || status=$?
    [ "$status" = 0 ] && grep -q 'landlock blob' term && ok 'its text form is not' || bad 'text on a terminal' "status $status"
else
    skip 'a terminal as output' 'script(1) is not installed'
fi

# ---- robot_lab's variables as a ceiling ------------------------------------------------------------------------
fresh
printf 'system none\nread "data"\nwrite "out"\nnetwork open\ntimeout 5m\nenv none\nenv allow "X"\n' > wide.sbx
dumped() { # NAME WANT-LINES WORD...: the grants, network, environment and limits of the dump
    name=$1 want=$2
    shift 2
    run dump -t landlock "$@"
    got=$(sed -n "s|$t/||; /# /d; s/^  \\(read\\|write\\|network\\|limits\\|env\\) /\\1 /p" stdout | tr '\n' ';')
    [ "$status" = 0 ] && [ "$got" = "$want" ] && ok "$name" || bad "$name" "status $status, '$got', $(head -n 3 stderr)"
}
dumped 'without --ceiling-env variables mean nothing' \
    'read "data";write "out";network open;env none;env { allow "X" };limits { timeout 5m; kill-after 2s };' wide.sbx
export ROBOT_LAB_SANDBOX__TIMEOUT=30
dumped 'a variable narrows its own axis only' \
    'read "data";write "out";network open;env none;env { allow "X" };limits { timeout 30s; kill-after 2s };' wide.sbx --ceiling-env
export ROBOT_LAB_SANDBOX__FS_READ='out, data' ROBOT_LAB_SANDBOX__NETWORK=false
dumped 'a list of reading leaves writing where reading is' \
    'read "data";write "out";network none;env none;env { allow "X" };limits { timeout 30s; kill-after 2s };' wide.sbx --ceiling-env
export ROBOT_LAB_SANDBOX__FS_READ=data
dumped 'what it does not name goes' \
    'read "data";network none;env none;env { allow "X" };limits { timeout 30s; kill-after 2s };' wide.sbx --ceiling-env
unset ROBOT_LAB_SANDBOX__FS_READ
export ROBOT_LAB_SANDBOX__FS_WRITE=data
dumped 'a list of writing leaves reading as it is' \
    'read "data";read "out";network none;env none;env { allow "X" };limits { timeout 30s; kill-after 2s };' wide.sbx --ceiling-env
# shellcheck disable=SC2089,SC2090 # the quotes are part of the value
for value in off no 0 '"false"' False; do
    ROBOT_LAB_SANDBOX__NETWORK=$value
    refused "a network of $value" 1 'environment:' --ceiling-env -t landlock good.sbx -o out/a.landlock
done
# shellcheck disable=SC2090
export ROBOT_LAB_SANDBOX__NETWORK=false ROBOT_LAB_SANDBOX__TIMEUOT=5
refused 'a misspelt variable' 1 'did you mean `TIMEOUT`' --ceiling-env -t landlock good.sbx -o out/a.landlock
unset ROBOT_LAB_SANDBOX__TIMEUOT
ROBOT_LAB_SANDBOX__FS_WRITE=$(printf 'data\n/x')
refused 'a line break in a variable' 1 'a line break stands in' --ceiling-env -t landlock good.sbx -o out/a.landlock
unset ROBOT_LAB_SANDBOX__FS_WRITE ROBOT_LAB_SANDBOX__NETWORK ROBOT_LAB_SANDBOX__TIMEOUT
refused 'an unknown shape' 2 '--shape takes' --shape robotlab -t landlock good.yml -o out/a.landlock

# ---- Sizes ---------------------------------------------------------------------------------------------------
fresh
head -c 67108864 /dev/zero | tr '\0' '#' > big.sbx
refused 'one line of 64 MiB' 2 'larger than 16 MiB' -t landlock big.sbx -o out/a.landlock
refused 'one line of 64 MiB from a pipe' 2 'larger than 16 MiB' --from dsl -t landlock /dev/stdin -o out/a.landlock < big.sbx
refused 'a ceiling of 64 MiB' 2 'larger than 16 MiB' --ceiling big.sbx -t landlock good.sbx -o out/a.landlock
rm -f big.sbx
mkdir many
i=0
while [ $i -lt 5000 ]; do
    : > many/f$i
    echo "read \"names/f$i\""
    i=$((i + 1))
done > names.sbx
ln -s many names
made '5,000 files through a link' out/names.landlock names.sbx -t landlock -o out/names.landlock

# ---- Inputs, row by row --------------------------------------------------------------------------------------
cd "$here/../.." || exit 1
if command -v python3 > /dev/null; then
    timeout 900 python3 "$here/inputs.py" "$t/sbxc" > "$t/rows" || bad inputs.py 'did not end well'
    cat "$t/rows"
    passed=$((passed + $(grep -c '^ok ' "$t/rows")))
    failed=$((failed + $(grep -c '^FAIL ' "$t/rows")))
    skipped=$((skipped + $(grep -c '^skip ' "$t/rows")))
    grep -q '^ok ' "$t/rows" || bad inputs.py 'ran no case'
else
    skip inputs.py 'python3 is not installed'
fi

echo "cli: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
