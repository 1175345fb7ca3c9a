#!/bin/sh
# Runs every test suite against a build and sums their counts. Usage: tests/check.sh BUILD UNIT-PROGRAM...
#
# A suite ends with "NAME: N passed, N failed, N skipped"; one that does not is a failure of its own, as is
# one that exits non-zero without counting a failure. The last line is the sum.
set -eu

build=${1:?usage: tests/check.sh BUILD UNIT-PROGRAM...}
shift
log=$(mktemp)
trap 'rm -f "$log" "$log.status" "$log.failures"' EXIT
: > "$log.failures"
passed=0
failed=0
skipped=0

suite() {
    name=$1
    shift
    echo "== $name"
    # No pipefail in sh: the status goes by a file.
    { "$@" 2>&1 && echo 0 > "$log.status" || echo $? > "$log.status"; } | tee "$log"
    sed -n "s/^FAIL/FAIL $name:/p" "$log" >> "$log.failures"
    counts=$(tail -n 1 "$log" | sed -n 's/^[a-z]*: \([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p')
    if [ -z "$counts" ]; then
        echo "FAIL $name: printed no count (status $(cat "$log.status"))"
        failed=$((failed + 1))
        return
    fi
    # shellcheck disable=SC2086 # three numbers
    set -- $counts
    if [ "$(cat "$log.status")" != 0 ] && [ "$2" = 0 ]; then
        echo "FAIL $name: status $(cat "$log.status") without a failure counted"
        failed=$((failed + 1))
    fi
    passed=$((passed + $1))
    failed=$((failed + $2))
    skipped=$((skipped + $3))
}

suite layers sh tests/layers.sh
suite unit sh tests/unit.sh "$@"
case $build in
*/san) echo 'Left out under the sanitizers: linked (sbxrun is linked dynamically there), schema (it judges texts).' ;;
*)
    suite linked sh tests/linked.sh "$build"
    suite schema "${PYTHON:-python3}" tests/schema/run.py "$build"
    ;;
esac
suite install sh tests/install.sh "$build"
suite golden "${PYTHON:-python3}" tests/golden/run.py "$build"
suite property "${PYTHON:-python3}" tests/property/run.py "$build"
suite convert "${PYTHON:-python3}" tests/convert/run.py "$build"
suite fmt "${PYTHON:-python3}" tests/fmt/run.py "$build"
for name in cli seatbelt bwrap docker docs; do
    [ ! -e "tests/$name/run.sh" ] || suite "$name" sh "tests/$name/run.sh" "$build"
done
suite enforce "${PYTHON:-python3}" tests/enforce/run.py "$build"

if [ "$(id -u)" = 0 ]; then
    echo "Run as root: the root halves and, as uid 1001, the unprivileged halves."
else
    echo "Run as an ordinary user: only the unprivileged halves. Run make check as root for the root halves of enforce and bwrap."
fi
[ "${ENGINES:-0}" = 1 ] || echo "Without ENGINES=1 no container engine is installed or run: the skips of docker say what that leaves out."
cat "$log.failures"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
