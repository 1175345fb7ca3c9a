#!/bin/sh
# What is linked into the programs: the runtime is static and holds no compiler, the compiler no runtime.
# Usage: tests/linked.sh BUILD
set -eu
export LC_ALL=C

build=$1
passed=0
failed=0

ok() {
    passed=$((passed + 1))
    echo "ok $1"
}
fail() {
    failed=$((failed + 1))
    echo "FAIL $1"
}

if readelf -lW "$build/sbxrun" | grep -q INTERP || readelf -dW "$build/sbxrun" | grep -q NEEDED; then
    fail 'sbxrun asks for a loader'
else
    ok 'sbxrun is static'
fi

# without PROGRAM PATTERN WHAT
without() {
    if nm "$build/$1" | grep -E " [TtDdBbRrU] ($2)" > /dev/null; then
        nm "$build/$1" | grep -E " [TtDdBbRrU] ($2)" | head -n 5
        fail "$1 holds $3"
    else
        ok "$1 holds no $3"
    fi
}

# Symbols must be there at all, or their absence would prove nothing.
if nm "$build/sbxrun" | grep -q ' T main$' && nm "$build/sbxc" | grep -q ' T main$'; then
    ok 'symbols can be read'
else
    fail 'symbols cannot be read'
fi
without sbxrun 'yaml_|dsl_yy|dsl_flex|fe_|be_' 'parser or emitter'
without sbxc 'rt_' 'runtime'
without sbxc 'seccomp_' 'libseccomp'

echo "linked: $passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
