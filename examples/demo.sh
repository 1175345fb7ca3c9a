#!/bin/sh
# Compiles a skill for all four targets and shows the artifacts, then tries what the skill may and may not do:
# without a sandbox, under the Landlock blob and under the bwrap file. Usage: demo.sh BUILD
#
# Exits 1 when any attempt ends otherwise than expected.
set -eu

build=$(cd "${1:?usage: demo.sh BUILD}" && pwd)
examples=$(cd "$(dirname "$0")" && pwd)
top=$(mktemp -d)
listener=
canary=$HOME/.sbx-demo-$$
cleanup() {
    [ -z "$listener" ] || kill "$listener" 2> /dev/null || :
    rm -rf "$top" "$canary"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

title() {
    printf '\n== %s\n' "$1"
}

# The working folder, as each attempt finds it.
workspace() {
    rm -rf "$top/ws" "$canary"
    mkdir -p "$top/ws/inbox" "$top/ws/logs"
    echo 'what to do' > "$top/ws/inbox/list.txt"
    echo 'not yours' > "$top/ws/secret.txt"
    echo new > "$top/ws/logs/new.log"
    echo old > "$top/ws/logs/old.log"
    touch -d '30 days ago' "$top/ws/logs/old.log"
}

title 'the declaration: examples/purge/SKILL.md'
sed '/^---$/,/^---$/!d' "$examples/purge/SKILL.md"
title 'the ceiling: examples/config/robot_lab.yml'
cat "$examples/config/robot_lab.yml"

compile() {
    "$build/sbxc" --ceiling "$examples/config/robot_lab.yml" -D WORK_DIR="$top/ws" --image debian:12 "$@" \
        "$examples/purge/SKILL.md"
}
workspace
mkdir "$top/out"
title 'sbxc -t seatbelt,bwrap,landlock,docker --ceiling config/robot_lab.yml -o purge purge/SKILL.md'
compile -t seatbelt,bwrap,landlock,docker -o "$top/out/purge"
ls -l "$top/out"
for target in seatbelt bwrap landlock docker; do
    title "the $target artifact as text"
    # Options and their operands, several a line, are easier on the eye than one word a line.
    case $target in
    bwrap | docker) compile -t "$target" --format text -o - 2> /dev/null | paste -sd ' ' | fold -s -w 110 ;;
    *) compile -t "$target" --format text -o - 2> /dev/null ;;
    esac
    echo
done

# A listener of the outside, which the attempts try to reach.
python3 - "$top/port" << 'PYTHON' &
import socket, sys
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(8)
s.settimeout(60)
open(sys.argv[1] + ".new", "w").write(str(s.getsockname()[1]))
__import__("os").rename(sys.argv[1] + ".new", sys.argv[1])
while True:
    s.accept()[0].close()
PYTHON
listener=$!
tries=0
while [ ! -e "$top/port" ]; do
    tries=$((tries + 1))
    if [ "$tries" -gt 100 ]; then
        echo 'demo: the listener did not start' >&2
        exit 1
    fi
    sleep 0.1
done
port=$(cat "$top/port")

wrong=0
# attempt NAME ENGINE EXPECTED COMMAND...: runs it in the working folder and adds a row to the table.
attempt() {
    name=$1
    engine=$2
    expected=$3
    shift 3
    workspace
    status=0
    case $engine in
    none) (cd "$top/ws" && "$@") > "$top/said" 2>&1 || status=$? ;;
    *) (cd "$top/ws" && "$build/sbxrun" "$top/out/purge.$engine" -- "$@") > "$top/said" 2>&1 || status=$? ;;
    esac
    verdict=ok
    if [ "$status" != "$expected" ]; then
        verdict=WRONG
        wrong=$((wrong + 1))
    fi
    said=$(head -n 1 "$top/said" | cut -c 1-60)
    printf '%-34s %-9s %6s %8s  %-5s  %s\n' "$name" "$engine" "$status" "$expected" "$verdict" "$said" >> "$top/table"
}

# The path of the home folder is expanded here, outside; inside, HOME is another one.
script="$examples/purge/scripts/purge.sh"
for engine in none landlock bwrap; do
    refused=1
    unwritten=2 # a redirection that fails ends dash with 2
    late=124
    if [ "$engine" = none ]; then
        refused=0
        unwritten=0
        late=0
    fi
    attempt 'read a granted file' "$engine" 0 cat inbox/list.txt
    attempt 'write beneath a granted folder' "$engine" 0 sh -c 'echo done > logs/report.txt && cat logs/report.txt'
    attempt 'run the script of the skill' "$engine" 0 "$script" --days 7
    attempt 'read a file beside the grant' "$engine" "$refused" cat secret.txt
    attempt 'write to the home of the caller' "$engine" "$unwritten" /bin/dash -c "echo x > '$canary'"
    attempt 'connect to a listener by TCP' "$engine" "$refused" bash -c "exec 3<> /dev/tcp/127.0.0.1/$port"
    attempt 'sleep 4 s with a timeout of 2 s' "$engine" "$late" sleep 4
    if [ "$engine" != none ] && [ -e "$canary" ]; then
        echo "demo: $canary was written" >&2
        wrong=$((wrong + 1))
    fi
done

title 'attempts (exit status: got, expected)'
printf '%-34s %-9s %6s %8s  %-5s  %s\n' attempt engine status expected '' 'first line said'
cat "$top/table"
if [ "$wrong" != 0 ]; then
    printf '\n%s attempts went wrong\n' "$wrong"
    exit 1
fi
printf '\nevery attempt ended as expected\n'
