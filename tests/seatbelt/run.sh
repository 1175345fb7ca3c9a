#!/bin/sh
# Profiles as a Scheme interpreter of macOS' own family sees them: cases/NAME.sbx is compiled, loaded as the
# program that it is, and asked the questions of cases/NAME.scm. Usage: run.sh [BUILD FOLDER]
set -u
build=${1:-build/release}
here=$(dirname "$0")
passed=0
failed=0
skipped=0

finish() {
    echo "seatbelt: $passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
    exit
}

pass() {
    passed=$((passed + 1))
    echo "ok $1"
}

fail() {
    failed=$((failed + 1))
    echo "FAIL $1: $2"
}

skip() {
    skipped=$((skipped + 1))
    echo "skip $1"
}

if ! command -v tinyscheme >/dev/null; then
    skip "seatbelt: tinyscheme is not installed"
    finish
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# Files in one program; what it prints. The interpreter reads a terminal or pipe to its end, hence /dev/null.
scheme() {
    for file in "$@"; do
        echo "(load \"$file\")"
    done >"$work/program.scm"
    timeout 20 tinyscheme "$work/program.scm" </dev/null 2>&1
}

# Adds up the answers in a file, each line with the case's name in front.
count() {
    while IFS= read -r line; do
        case $line in
        "ok "*) pass "$1: ${line#ok }" ;;
        "FAIL "*) fail "$1" "${line#FAIL }" ;;
        "skip "*) skip "$1: ${line#skip }" ;;
        "") ;;
        *) fail "$1" "$line" ;;
        esac
    done <"$2"
    if ! grep -q '^ok ' "$2"; then
        fail "$1" "no answers"
    fi
}

ask() {
    if ! "$build/sbxc" -t seatbelt "$here/cases/$1.sbx" -o "$work/$1.sb" 2>"$work/err"; then
        fail "$1" "does not compile: $(grep -m 1 error "$work/err")"
        return
    fi
    echo '(set-param! "TMPDIR" "/private/tmp/sbx-run")' >"$work/param.scm"
    echo '(display "ok every question was asked") (newline)' >"$work/end.scm"
    scheme "$here/eval.scm" "$work/param.scm" "$work/$1.sb" "$here/cases/$1.scm" "$work/end.scm" >"$work/answers"
    if ! grep -q '^ok every question was asked$' "$work/answers"; then
        fail "$1" "the program stopped"
    fi
    count "$1" "$work/answers"
}

# Without the parameter a profile must not load: sandbox-exec alone then runs nothing.
unbound() {
    scheme "$here/eval.scm" "$work/$1.sb" "$here/cases/$1.scm" >"$work/answers"
    if grep -q 'unbound variable: use-sbxrun-or-set-tmpdir' "$work/answers" &&
        ! grep -q '^ok ' "$work/answers"; then
        pass "$1: without TMPDIR it does not load"
    else
        fail "$1: without TMPDIR it does not load" "$(head -n 1 "$work/answers")"
    fi
}

refused() {
    printf '%s\n' "$2" >"$work/refused.sbx"
    rm -f "$work/refused.sb"
    "$build/sbxc" -t seatbelt "$work/refused.sbx" -o "$work/refused.sb" 2>"$work/err"
    status=$?
    if [ $status -eq 1 ] && grep -q "^$work/refused.sbx:$3: error: .*\[$4\]" "$work/err" &&
        [ ! -e "$work/refused.sb" ]; then
        pass "refused: $1"
    else
        fail "refused: $1" "status $status, $(head -n 1 "$work/err")"
    fi
}

echo '(display "ok every question was asked") (newline)' >"$work/end.scm"
scheme "$here/eval.scm" "$here/selftest.scm" "$work/end.scm" >"$work/answers"
count evaluator "$work/answers"

for case in "$here"/cases/*.sbx; do
    name=$(basename "$case" .sbx)
    ask "$name"
    unbound "$name"
done

refused "newline in a path" 'profile p { read "/a\nb" }' 1:18 unquotable
refused "a path that is no UTF-8" 'profile p { read "/a\xff" }' 1:18 unquotable
refused "delete in a path" 'profile p { system none; write "/a\x7f" }' 1:32 unquotable

# Granted trust confines nothing, and says so.
echo 'profile p { trust core }' >"$work/core.sbx"
if "$build/sbxc" -t seatbelt --trust-core "$work/core.sbx" -o "$work/core.sb" 2>"$work/err" &&
    grep -qx '(allow default)' "$work/core.sb" && grep -qx ';; sbx:confine=no' "$work/core.sb"; then
    pass "core"
else
    fail "core" "$(head -n 1 "$work/err")"
fi
# Asked for and not granted, it is the same as without.
if "$build/sbxc" -t seatbelt "$work/core.sbx" -o "$work/core.sb" 2>"$work/err" &&
    grep -qx '(deny default)' "$work/core.sb"; then
    pass "core is only a request"
else
    fail "core is only a request" "$(head -n 1 "$work/err")"
fi

sh "$here/engine.sh" "$build" >"$work/answers" 2>&1
count engine "$work/answers"
finish
