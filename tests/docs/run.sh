#!/bin/sh
# Holds the documents to the code. Usage: run.sh [BUILD FOLDER]
#
#   - every declaration in docs/language.md compiles to all four targets, in a scratch tree; twins give equal
#     artifacts, and blocks that are meant to fail do so with the message behind their tag
#   - tables and manuals name every clause, option, message, loss, key and word that the sources have
#   - the hexdump in docs/artifacts.md is what the compiler writes; the manuals pass mandoc's checks
#
# Tags of a fenced block: KIND, KIND-note TEXT, KIND-error TEXT with KIND one of sbx, yaml, skill; behind it
# `same` (equal artifacts to the block before) or `ceiling` (holds for the next block). TEXT must be in stderr.
set -u
build=${1:-build/release}
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
docs=$top/docs
case $build in /*) ;; *) build=$PWD/$build ;; esac
passed=0
failed=0
skipped=0

pass() {
    passed=$((passed + 1))
}

fail() {
    failed=$((failed + 1))
    echo "FAIL $1"
}

skip() {
    skipped=$((skipped + 1))
    echo "skip $1"
}

# Runs the test; counts it under the name that follows.
check() {
    name=$1
    shift
    if "$@"; then pass; else fail "$name"; fi
}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
TARGETS=seatbelt,bwrap,landlock,docker

# ---- Declarations ------------------------------------------------------------------------------------------

make_tree() {
    root=$work/root
    mkdir -p "$root/home/u/logs" "$root/srv/data/in" "$root/work/out" "$root/work/data" "$root/skills/purge" \
        "$root/srv/odd \$name"
    ln -s data "$root/srv/link"
    : >"$root/work/file.txt"
}

# Writes the blocks of a document to $work/blocks/NNN.text, each with its tag line in NNN.tag.
split_blocks() {
    rm -rf "$work/blocks"
    mkdir "$work/blocks"
    awk -v out="$work/blocks" '
        /^```/ && !inside { inside = 1; n++; name = sprintf("%s/%03d", out, n); tag = substr($0, 4)
                            print NR, tag > (name ".tag"); printf "" > (name ".text"); next }
        /^```$/ && inside { inside = 0; close(name ".tag"); close(name ".text"); next }
        inside            { print > (name ".text") }' "$1"
}

compile() {
    "$build/sbxc" --sysroot "$work/root" --base /work -D HOME=/home/u -D WORK_DIR=/work -D SKILL_DIR=/skills/purge \
        --image debian:12 "$@"
}

# Compiles one block. $1 file of the block, $2 prefix of the artifacts.
compile_block() {
    set -- "$1" -t "$TARGETS" -o "$2"
    [ -z "$ceiling" ] || set -- "$@" --ceiling "$ceiling"
    compile "$@" 2>"$work/err"
}

show_err() {
    sed 's/^/    /' "$work/err" | head -n 12
}

same_artifacts() {
    for suffix in .sb .bwrap .landlock .docker; do
        cmp -s "$1$suffix" "$2$suffix" || return 1
    done
}

# $1 place, $2 how (plain, note, error), $3 text or `same`, $4 file
try_block() {
    made=$work/made/$(basename "$4")
    compile_block "$4" "$made"
    status=$?
    if [ "$2" = error ]; then
        check "$1: refused" test "$status" = 1
        check "$1: the message is \"$3\"" grep -qF -- "$3" "$work/err"
        return
    fi
    if [ "$status" != 0 ]; then
        fail "$1: does not compile"
        show_err
        return
    fi
    pass
    [ "$2" = plain ] || check "$1: says \"$3\"" grep -qF -- "$3" "$work/err"
    [ "$3" != same ] || check "$1: artifacts equal those of the block before" same_artifacts "$last" "$made"
    last=$made
}

# $1 file without suffix, $2 line of the document, $3 kind[-how], $4 the rest of the tag line
block() {
    kind=${3%%-*}
    how=${3#"$kind"}
    how=${how#-}
    case $kind in
    sbx) suffix=sbx ;;
    yaml) suffix=yml ;;
    skill) suffix=md ;;
    *) return ;;
    esac
    mv "$1.text" "$1.$suffix"
    if [ "$4" = ceiling ]; then
        ceiling=$1.$suffix
        return
    fi
    blocks=$((blocks + 1))
    try_block "language.md:$2" "${how:-plain}" "$4" "$1.$suffix"
    ceiling=
}

declarations() {
    make_tree
    split_blocks "$docs/language.md"
    mkdir "$work/made"
    ceiling=
    last=
    blocks=0
    for tag in "$work"/blocks/*.tag; do
        read -r line kind text <"$tag"
        block "${tag%.tag}" "$line" "${kind:-none}" "$text"
    done
    check "language.md has declarations" test "$blocks" -gt 40
}

# ---- Tables and manuals ------------------------------------------------------------------------------------

# The document holds each line of standard input as a fixed string. $1 document, $2 what they are
holds_each() {
    n=0
    while IFS= read -r word; do
        n=$((n + 1))
        check "$1 has no $2 $word" grep -qF -- "$word" "$docs/$1"
    done <<END
$(cat)
END
    check "there are ${2}s to look for in $1" test "$n" -gt 1
}

declarations
echo "docs: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
