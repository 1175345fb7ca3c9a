#!/bin/sh
# The layering holds in this tree, and tools/layers.sh sees each kind of wrong arrow when one is planted.
# Usage: tests/layers.sh  (from the top of the tree)
set -eu

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
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

if sh tools/layers.sh > "$scratch/out"; then
    ok "this tree: $(tail -n 1 "$scratch/out")"
else
    cat "$scratch/out"
    fail "this tree"
fi

# planted FILE INCLUDE: a copy of the sources with that line added must be refused, naming the file.
planted() {
    rm -rf "$scratch/tree"
    mkdir "$scratch/tree"
    cp -R src grammar "$scratch/tree/"
    mkdir -p "$scratch/tree/src/frontend" "$scratch/tree/src/backends" "$scratch/tree/src/runtime"
    touch "$scratch/tree/src/frontend/zz.h" "$scratch/tree/src/backends/zz.h" "$scratch/tree/src/runtime/zz.h" \
        "$scratch/tree/src/zz.h"
    printf '#include "%s"\n' "$2" >> "$scratch/tree/$1"
    if sh tools/layers.sh "$scratch/tree" > "$scratch/out"; then
        fail "planted in $1: $2 was not seen"
    elif grep -q "^$1:[0-9]*: .*may not include" "$scratch/out"; then
        ok "planted in $1: $2 is refused"
    else
        cat "$scratch/out"
        fail "planted in $1: $2, another message"
    fi
}

planted src/arena.h ir.h
planted src/ir.h frontend/zz.h
planted src/ir.c zz.h
planted src/zz.h backends/zz.h
planted src/zz.h runtime/zz.h
planted src/frontend/zz.h ../backends/zz.h
planted src/frontend/zz.h ../artifact.h
planted src/backends/zz.h ../frontend/zz.h
planted src/backends/zz.h ../runtime/zz.h
planted src/runtime/zz.h ../ir.h
planted src/runtime/zz.h ../buf.h
planted src/runtime/zz.h ../frontend/zz.h
planted src/artifact.h arena.h
planted grammar/policy.y backends/zz.h

echo "layers: $passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
