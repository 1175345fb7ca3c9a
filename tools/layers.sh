#!/bin/sh
# Fails on an include that points against the architecture (docs/architecture.md):
#
#     base <- ir <- {meaning, frontend, backends}     contract <- {backends, runtime}
#
# and only src/main.c sees both ends. Usage: layers.sh [TREE]; prints each wrong arrow and a count.
set -eu
export LC_ALL=C
cd "${1:-.}"

# The layer of a file, by its path. Prints nothing for a file that is not ours (generated, system).
layer() {
    case $1 in
    src/main.c | src/inputs.[ch]) layer=main ;;
    src/runtime/*) layer=runtime ;;
    src/frontend/* | grammar/*) layer=frontend ;;
    src/backends/*) layer=backends ;;
    src/fixed.h) layer=fixed ;;
    src/artifact.h | src/filters.h | src/*_words.h) layer=contract ;;
    src/arena.[ch] | src/buf.[ch] | src/source.[ch] | src/diag.[ch] | src/diag.def | src/diag_json.[ch]) layer=base ;;
    src/sha256.[ch] | src/sort.[ch] | src/units.[ch]) layer=base ;;
    src/ir.[ch] | src/ir_*.def | src/decl.[ch] | src/env_names.[ch] | src/network.[ch] | src/pattern.[ch] | src/dump_json.[ch] | src/preset.h) layer=ir ;;
    src/*) layer=meaning ;;
    *) layer=unknown ;;
    esac
}

# What each layer may include besides itself.
may_include() {
    case $1:$2 in
    main:* | *:fixed) ;; # fixed.h includes nothing
    ir:base | meaning:base | meaning:ir) ;;
    frontend:base | frontend:ir) ;;
    backends:base | backends:ir | backends:contract) ;;
    runtime:contract) ;;
    *) [ "$1" = "$2" ] ;;
    esac
}

# "src/runtime/../sha256.h" -> "src/sha256.h"
fold() {
    path=$1
    while :; do
        case $path in
        */../*)
            head=${path%%/../*}
            tail=${path#*/../}
            case $head in
            */*) path=${head%/*}/$tail ;;
            *) path=$tail ;;
            esac
            ;;
        *) return ;;
        esac
    done
}

# An include is looked up as the compiler does: beside the file, then in -Isrc.
find_include() {
    fold "${1%/*}/$2"
    if [ ! -e "$path" ]; then
        fold "src/$2"
    fi
    [ -e "$path" ]
}

right=0
wrong=0
list=$(mktemp)
trap 'rm -f "$list"' EXIT
find src grammar -type f | sort | xargs grep -Hno '^[[:space:]]*#[[:space:]]*include[[:space:]]*"[^"]*"' > "$list" || :
while IFS=: read -r file line text; do
    name=${text#*\"}
    name=${name%\"}
    # What is generated lies in build/ and is its generator's affair.
    find_include "$file" "$name" || continue
    layer "$file"
    from=$layer
    layer "$path"
    to=$layer
    case $from:$path in
    # Self-contained modules that the runtime links too; no other of the base.
    runtime:src/sha256.h | runtime:src/units.h) to=runtime ;;
    esac
    if may_include "$from" "$to"; then
        right=$((right + 1))
    else
        wrong=$((wrong + 1))
        echo "$file:$line: $from may not include $to ($path)"
    fi
done < "$list"

if [ $((right + wrong)) = 0 ]; then
    echo "layers: no include found at all" >&2
    exit 1
fi
echo "layers: $right passed, $wrong failed, 0 skipped"
[ "$wrong" = 0 ]
