#!/bin/sh
# What can be said of the sources without running them: headers compile alone, cppcheck, shellcheck, mandoc.
# Usage: tests/lint.sh BUILD  (from the top of the tree)
set -eu
export LC_ALL=C

build=$1
out=$(mktemp)
trap 'rm -f "$out"' EXIT
passed=0
failed=0

# check NAME COMMAND...: the command says nothing and ends with 0.
check() {
    name=$1
    shift
    if "$@" > "$out" 2>&1 && [ ! -s "$out" ]; then
        passed=$((passed + 1))
        echo "ok $name"
    else
        failed=$((failed + 1))
        cat "$out"
        echo "FAIL $name"
    fi
}

for header in $(find src -name '*.h' | sort); do
    check "$header compiles alone" "${CC:-cc}" -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -Isrc "-I$build/gen" \
        -fsyntax-only -x c "$header"
done

check 'cppcheck' cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
    --suppress=missingIncludeSystem -D_GNU_SOURCE -D__x86_64__ -Isrc "-I$build/gen" --error-exitcode=1 src tools

for script in .ci/run tests/*.sh tests/*/*.sh tools/*.sh examples/*.sh examples/*/scripts/*.sh; do
    check "shellcheck $script" shellcheck "$script"
done

for page in docs/*.[1-8]; do
    [ ! -e "$page" ] || check "mandoc $page" mandoc -T lint -W warning "$page"
done

echo "lint: $passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
