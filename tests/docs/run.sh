#!/bin/sh
# Holds the documents to the code. Usage: run.sh [BUILD FOLDER]
#
#   - every declaration in docs/language.md compiles to all four targets, in a scratch tree; twins give equal
#     artifacts, and blocks that are meant to fail do so with the message behind their tag
#   - every message of diag.def is in an expectation of a golden case, and so is each target's refusal of what it does
#     not hold
#   - tables and manuals name every clause, option, message, loss, key and word that the sources have
#   - the hexdump in docs/artifacts.md is what the compiler writes; the manuals pass mandoc's checks
#
# Tags of a fenced block: KIND, KIND-note TEXT, KIND-error TEXT, KIND-dump with KIND one of sbx, yaml, skill; behind
# KIND `same` (equal to the block before) or `ceiling` (holds for the next block). TEXT must be in stderr. KIND-dump:
# not every target holds it, so it is dumped, and compiling it for all four names what is refused.
# shellcheck disable=SC2016 # backticks of Markdown
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

# Runs the test; counts it under the name that stands first.
check() {
    name=$1
    shift
    if "$@"; then pass; else fail "$name"; fi
}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

show_err() {
    sed 's/^/    /' "$work/err" | head -n 12
}

# ---- Declarations ------------------------------------------------------------------------------------------

make_tree() {
    root=$work/root
    mkdir -p "$root/home/u/logs" "$root/srv/data/in" "$root/work/out" "$root/work/data" "$root/skills/purge" \
        "$root/srv/odd \$name"
    ln -s data "$root/srv/link"
    : >"$root/work/file.txt"
}

# Writes the blocks of a document to $work/blocks/NNN.text, each with its line and tag in NNN.tag.
split_blocks() {
    rm -rf "$work/blocks"
    mkdir "$work/blocks"
    awk -v out="$work/blocks" '
        /^```/ && !inside { inside = 1; n++; name = sprintf("%s/%03d", out, n); tag = substr($0, 4)
                            print NR, tag > (name ".tag"); printf "" > (name ".text"); next }
        /^```$/ && inside { inside = 0; close(name ".tag"); close(name ".text"); next }
        inside            { print > (name ".text") }' "$1"
}

# $1 is a command of sbxc.
with_tree() {
    command=$1
    shift
    "$build/sbxc" "$command" --sysroot "$work/root" --base /work -D HOME=/home/u -D WORK_DIR=/work -D SKILL_DIR=/skills/purge \
        "$@" 2>"$work/err"
}

compile_all() {
    with_tree compile --image debian:12 -t seatbelt,bwrap,landlock,docker "$@"
}

equal_artifacts() {
    for suffix in .sb .bwrap .landlock .docker; do
        cmp -s "$1$suffix" "$2$suffix" || return 1
    done
}

# Of several profiles `purge` is meant. $1 file
pick() {
    profile=
    ! grep -qE '^ *(profile|scope) purge |^ *purge: \{|scopes: \{purge: ' "$1" || profile='--profile purge'
}

# $1 place, $2 text or `same`, $3 file
try_dump() {
    made=$work/made/$(basename "$3")
    # shellcheck disable=SC2086 # two words or none
    with_tree dump -t landlock $profile "$3" >"$made.dump"
    check "$1: is understood" test $? = 0
    [ "$2" != same ] || check "$1: means the same as the block before" cmp -s "$last.dump" "$made.dump"
    last=$made
}

# $1 place, $2 how (plain, note, error), $3 text or `same`, $4 file
try_block() {
    pick "$4"
    if [ "$2" = dump ]; then
        try_dump "$1" "$3" "$4"
        return
    fi
    made=$work/made/$(basename "$4")
    if [ -n "$ceiling" ]; then
        compile_all "$4" -o "$made" --ceiling "$ceiling"
    else
        # shellcheck disable=SC2086 # two words or none
        compile_all $profile "$4" -o "$made"
    fi
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
    [ "$3" != same ] || check "$1: artifacts equal those of the block before" equal_artifacts "$last" "$made"
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
    try_block "$page:$2" "${how:-plain}" "$4" "$1.$suffix"
    ceiling=
}

# $1 document: compiles its declarations
test_blocks() {
    page=$1
    split_blocks "$docs/$page"
    rm -rf "$work/made"
    mkdir "$work/made"
    ceiling=
    last=
    blocks=0
    for tag in "$work"/blocks/*.tag; do
        read -r line kind text <"$tag"
        block "${tag%.tag}" "$line" "${kind:-none}" "$text"
    done
}

test_language() {
    test_blocks language.md
    check "language.md has declarations" test "$blocks" -gt 40
    # A clause of the key table has a heading; `fs_read`, `fs_write` and the like share one.
    sed -n '/^const struct key key_profile/,/^};/{s/.*\.yaml = "\([a-z_]*\)".*/`\1`/p; s/.*PATH_ROW("[a-z -]*", "\([a-z_]*\)".*/`\1`/p;}' \
        "$top/src/frontend/keys.c" >"$work/names"
    grep '^### ' "$docs/language.md" >"$work/headings"
    n=0
    while read -r clause; do
        n=$((n + 1))
        check "language.md has no heading for $clause" grep -qF "$clause" "$work/headings"
    done <"$work/names"
    check "there are clauses to look for" test "$n" -gt 5
}

# ---- Artifacts ---------------------------------------------------------------------------------------------

# The document holds each line of $work/names as a fixed string. $1 document, $2 what they are
holds_each() {
    n=0
    while IFS= read -r word; do
        n=$((n + 1))
        check "$1 has no $2 $word" grep -qF -- "$word" "$docs/$1"
    done <"$work/names"
    check "there is a $2 to look for in $1" test "$n" -gt 0
}

# The names in the rows X(ID, "name", ...) or MACRO("name", ...) of a source.
names_of() {
    sed -n "s/^ *$1(\([A-Z_0-9]*, *\)\{0,1\}\"\([^\"]*\)\".*/\2/p" "$top/src/$2"
}

test_artifacts() {
    names_of X artifact.h | sed 's/.*/| `&` |/' >"$work/names"
    holds_each artifacts.md key
    for words in bwrap_words.h docker_words.h; do
        names_of X "$words" | sort -u | sed 's/^/`/' >"$work/names"
        holds_each artifacts.md word
    done
    names_of X seatbelt_words.h | sed 's/.*/`&`/' >"$work/names"
    holds_each artifacts.md operation
    want=$(names_of X artifact.h | tr '\n' ' ')
    got=$(sed -n '/^## Run section/,/^Numbers/s/^| `\([a-z-]*\)` |.*/\1/p' "$docs/artifacts.md" | tr '\n' ' ')
    check "artifacts.md: the keys stand in the order of artifact.h" test "$want" = "$got"
}

# Each line "OFFSET HEX BYTES  TEXT" of the example against the blob.
test_hexdump() {
    split_blocks "$docs/artifacts.md"
    tag=$(grep -l ' sbx$' "$work"/blocks/*.tag)
    dump=$(grep -l ' hexdump$' "$work"/blocks/*.tag)
    mv "${tag%.tag}.text" "$work/example.sbx"
    with_tree compile -t landlock -o "$work/example.landlock" "$work/example.sbx" || show_err
    lines=0
    while read -r offset bytes; do
        [ -n "$offset" ] || continue
        bytes=$(echo "$bytes" | sed 's/^\(\([0-9a-f][0-9a-f] \{0,1\}\)*\)\( .*\)*$/\1/; s/ *$//')
        n=$(echo "$bytes" | wc -w)
        real=$(od -A n -t x1 -v -j "$offset" -N "$n" "$work/example.landlock" 2>/dev/null | tr -s ' \n' ' ' |
            sed 's/^ //; s/ $//')
        check "artifacts.md: at $offset stands $real" test "$bytes" = "$real"
        lines=$((lines + 1))
    done <"${dump%.tag}.text"
    check "artifacts.md has a hexdump" test "$lines" -gt 30
}

# ---- Manuals -----------------------------------------------------------------------------------------------

# $work/names has lines HEAD|TEXT: the page holds HEAD as one line and TEXT as the next. $1 page, $2 what they are
holds_items() {
    n=0
    while IFS='|' read -r head text; do
        n=$((n + 1))
        next=$(grep -A 1 -Fx -- "$head" "$docs/$1" | sed -n 2p)
        check "$1: $2 \"$head\" with \"$text\"" test "$next" = "$text"
    done <"$work/names"
    check "there is a $2 to look for in $1" test "$n" -gt 0
}

# The long options of a program's --help, as mdoc: `Fl -name`.
options_of() {
    "$build/$1" --help | sed -n 's/^ *\(-[a-zA-Z], \)\{0,1\}-\(-[a-z-]*\).*/Fl \2/p' >"$work/names"
    holds_each "$1.1" option
}

test_sbxc() {
    options_of sbxc
    sed -n 's/^ *{"\([a-z]*\)", COMMAND_.*/Cm \1/p' "$top/src/options.c" >"$work/names"
    holds_each sbxc.1 command
    sed -n 's/^LOSS("\([^"]*\)", "\(.*\)")$/.It Cm \1|\2/p' "$top/src/losses.def" >"$work/names"
    holds_items sbxc.1 loss
    sed -n 's/^DIAG([A-Z_0-9]*, "\([^"]*\)", DIAG_\([A-Z]*\), "\(.*\)")$/\1 \2 \3/p' "$top/src/diag.def" |
        while read -r name severity text; do
            echo ".It Cm $name Pq $(echo "$severity" | tr '[:upper:]' '[:lower:]')|$text"
        done >"$work/names"
    check "every line of diag.def was read" test "$(grep -c '^DIAG(' "$top/src/diag.def")" = "$(wc -l <"$work/names")"
    holds_items sbxc.1 diagnostic
    with_tree dump -t landlock -o "$work/example.dump" "$work/example.sbx" || show_err
    digest=$(sha256sum "$work/example.dump" | cut -c 1-64)
    check "sbxc.1: policy-digest is that of the dump" \
        grep -qF "policy-digest=${digest:-none}" "$work/example.landlock"
}

test_sbxrun() {
    options_of sbxrun
    # The steps that failures name, with the constants' values.
    { cat "$top"/src/runtime/*.c | tr '\n' ' ' | grep -o 'rt_fail[a-z_]*([^"();]*, *"[a-z_-]*",' | grep -o '"[a-z_-]*"'
      sed -n 's/^static const char STEP\[\] = \("[a-z]*"\);/\1/p' "$top"/src/runtime/*.c
      sed -n 's/^ *X(STAGE_[A-Z_]*, \("[a-z_]*"\),.*/\1/p' "$top/src/runtime/stage.h"; } | tr -d '"' | sort -u >"$work/steps"
    check "sbxrun has steps" test "$(wc -l <"$work/steps")" -gt 15
    while read -r step; do
        check "sbxrun.1 has no step $step" grep -q -- "^\.It Cm\( .* ,\)* $step\( ,.*\)*\$" "$docs/sbxrun.1"
    done <"$work/steps"
    sed -n 's/^ *RT_EXIT_[A-Z_]* = \([0-9]*\),.*/.It \1/p' "$top/src/runtime/runtime.h" >"$work/names"
    holds_each sbxrun.1 status
}

# The two examples of sbx(5) compile to the same.
test_sbx() {
    awk -v out="$work/man" '/^\.Sh EXAMPLES/ { on = 1 }
        on && /^\.Bd -literal/ { n++; name = out n (n == 1 ? ".sbx" : ".yml"); next }
        /^\.Ed/ { name = "" }
        name { print > name }' "$docs/sbx.5"
    compile_all "$work/man1.sbx" -o "$work/man1"
    check "sbx.5: the example compiles" test $? = 0
    compile_all "$work/man2.yml" -o "$work/man2"
    check "sbx.5: so does its twin" test $? = 0
    check "sbx.5: both mean the same" equal_artifacts "$work/man1" "$work/man2"
    # Every clause is an item there, every limit one of its own, and every word of a path.
    { sed -n '/^const struct key key_profile/,/^};/{s/.*\.dsl = "\([a-z -]*\)".*/\1/p; s/.*PATH_ROW("\([a-z -]*\)".*/\1/p;}' \
        "$top/src/frontend/keys.c"
      sed -n 's/^LIMIT([A-Z_]*, "\([^"]*\)".*/\1/p' "$top/src/ir_limits.def"; } | sed 's/^/.It Cm /' >"$work/names"
    check "there are clauses for sbx.5" test "$(wc -l <"$work/names")" -gt 30
    holds_each sbx.5 clause
}

test_mandoc() {
    if ! command -v mandoc >/dev/null; then
        skip "mandoc is not installed: the form of the manuals is not checked"
        return
    fi
    for page in sbxc.1 sbxrun.1 sbx.5; do
        mandoc -Tlint -W warning "$docs/$page" >"$work/err" 2>&1
        check "$page passes mandoc" test $? = 0
        show_err
    done
}

# Every loss and every target has its place in the account of targets.
test_targets() {
    sed -n 's/^LOSS("\([^"]*\)".*/--accept \1/p' "$top/src/losses.def" >"$work/names"
    holds_each targets.md loss
    sed -n 's/^    \.name = "\([a-z]*\)",$/*\1.*/p' "$top"/src/backends/*.c >"$work/names"
    holds_each targets.md ledger
    sed -n '/^const struct key key_profile/,/^};/s/.*\.dsl = "\([a-z_]*\)".*/`\1/p' "$top/src/frontend/keys.c" |
        grep -v '^`description$' >"$work/names"
    holds_each targets.md clause
}

# The shapes of other systems, and one example of each.
test_shapes() {
    test_blocks shapes.md
    check "shapes.md has declarations" test "$blocks" -gt 8
    for example in clawtool.yml littleghost.yml robot_lab.md rustyclaw.yml; do
        case $example in
        clawtool.yml) profile='--profile review' ;;
        littleghost.yml) profile='--profile main' ;;
        *) profile= ;;
        esac
        # shellcheck disable=SC2086 # two words or none
        with_tree dump -t landlock --resolve none $profile "$top/examples/shapes/$example" >"$work/example.dump"
        check "examples/shapes/$example is understood" test $? = 0
    done
}

# ---- Golden cases ------------------------------------------------------------------------------------------

# What is said once is shown once: every message has a case, and each target holds a feature or refuses it in one.
test_golden() {
    cat "$top"/tests/golden/*/expect/stderr* >"$work/said"
    # Cases compile; what only other commands say is heard here.
    "$build/sbxc" convert -o "$work/agent.yml" "$top/examples/agent.sbx" 2>>"$work/said"
    # `comments` is said by convert alone: tests/convert.
    sed -n 's/^DIAG([A-Z_0-9]*, "\([^"]*\)",.*/\1/p' "$top/src/diag.def" | grep -vx comments >"$work/names"
    while read -r id; do
        check "no golden case gives $id" grep -qF "[$id]" "$work/said"
    done <"$work/names"
    check "there are messages to look for" test "$(wc -l <"$work/names")" -gt 40
    sed -n 's/^FEATURE(\([A-Z_]*\), "\(.*\)")$/\1|\2/p' "$top/src/ir_features.def" >"$work/names"
    while IFS='|' read -r feature words; do
        for target in seatbelt bwrap landlock docker; do
            grep -qw "IR_NEEDS_$feature" "$top/src/backends/$target.c" ||
                check "no golden case has $target refuse $words" grep -qF "$target does not hold $words [cannot]" "$work/said"
        done
    done <"$work/names"
    check "there are features to look for" test "$(wc -l <"$work/names")" -gt 20
}

# ---- Examples ----------------------------------------------------------------------------------------------

# Both spellings of the agent mean the same; what its targets do not hold is refused, and nothing else.
test_examples() {
    for name in usr/bin/git usr/bin/make bin/sh; do
        mkdir -p "$root/$(dirname $name)"
        : >"$root/$name"
    done
    for profile in agent test review secrets; do
        with_tree dump -t landlock --profile "$profile" -o "$work/agent1" "$top/examples/agent.sbx" || show_err
        with_tree dump -t landlock --profile "$profile" -o "$work/agent2" "$top/examples/agent.yml" || show_err
        check "examples/agent: $profile is the same in both spellings" cmp -s "$work/agent1" "$work/agent2"
        compile_all --profile "$profile" -o "$work/agent" "$top/examples/agent.sbx" ||
            check "examples/agent: $profile has another error" test -z "$(grep 'error:' "$work/err" | grep -v '\[cannot\]')"
    done
    mkdir -p "$root/work/inbox" "$root/work/scripts" "$root/work/logs"
    check "examples/purge.sbx compiles" compile_all -o "$work/purge" "$top/examples/purge.sbx"
    check "examples are in their usual layout" "$build/sbxc" fmt --check "$top/examples/agent.sbx" "$top/examples/purge.sbx"
}

make_tree
test_golden
test_examples
test_language
test_shapes
test_artifacts
test_hexdump
test_targets
test_sbxc
test_sbxrun
test_sbx
test_mandoc
echo "docs: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
