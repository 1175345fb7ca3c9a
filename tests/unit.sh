#!/bin/sh
# Runs the cmocka programs given as arguments and sums their TAP. A program that dies or reports nothing counts
# as one failure.
set -eu

if [ $# = 0 ]; then
    echo 'FAIL unit: no such test'
    echo 'unit: 0 passed, 1 failed, 0 skipped'
    exit 1
fi

out=$(mktemp)
trap 'rm -f "$out"' EXIT
passed=0
failed=0
skipped=0

for program in "$@"; do
    name=${program##*/}
    status=0
    CMOCKA_MESSAGE_OUTPUT=TAP timeout 300 "$program" > "$out" 2>&1 || status=$?
    # cmocka 1.1.5 writes a skip as "not ok N # SKIP name", later ones as "ok N # SKIP name".
    skips=$(grep -c '^\(not \)\{0,1\}ok .*# SKIP' "$out") || :
    good=$(grep '^ok ' "$out" | grep -vc '# SKIP') || :
    bad=$(grep '^not ok ' "$out" | grep -vc '# SKIP') || :
    if [ $((good + bad + skips)) = 0 ] || { [ "$status" != 0 ] && [ "$bad" = 0 ]; }; then
        bad=$((bad + 1))
        echo "FAIL $name: ended with status $status"
    fi
    if [ "$bad" != 0 ]; then
        cat "$out"
    fi
    sed -n "s/^.*# SKIP/skip $name:/p; s/^skipped: /    /p" "$out"
    echo "$name: $good passed, $bad failed, $skips skipped"
    passed=$((passed + good))
    failed=$((failed + bad))
    skipped=$((skipped + skips))
done

echo "unit: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
