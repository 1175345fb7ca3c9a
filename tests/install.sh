#!/bin/sh
# What `make install` puts where, with which modes, and that the programs run from there.
# Usage: tests/install.sh BUILD  (from the top of the tree)
# shellcheck disable=SC2317 # functions are called by `check`
set -eu
export LC_ALL=C

build=$1
variant=${build##*/}
t=$(mktemp -d)
trap 'rm -rf "$t"' EXIT
passed=0
failed=0

# check NAME COMMAND...: the command ends with 0; what it printed is shown if not.
check() {
    name=$1
    shift
    if "$@" > "$t/out" 2>&1; then
        passed=$((passed + 1))
        echo "ok $name"
    else
        failed=$((failed + 1))
        cat "$t/out"
        echo "FAIL $name"
    fi
}

expected() {
    for program in sbxc sbxrun; do
        echo "755 f bin/$program"
    done
    for page in sbxc.1 sbxrun.1 sbx.5; do
        echo "644 f share/man/man${page##*.}/$page"
    done
    for document in LICENSE README.md CONTRIBUTING.md docs/*.md docs/*.json; do
        echo "644 f share/doc/sbxc/${document##*/}"
    done
    for folder in bin share share/doc share/doc/sbxc share/man share/man/man1 share/man/man5; do
        echo "755 d $folder"
    done
}

# The strictest umask that people have; neither variable comes from the outside, nor the jobs of another make.
install_with() {
    (umask 077 && exec env -u PREFIX -u DESTDIR -u MAKEFLAGS -u MAKELEVEL make --no-print-directory install "VARIANT=$variant" "$@")
}

nothing_besides() {
    find "$t" -mindepth 2 -type f ! -path "$1/*" > "$t/besides"
    diff /dev/null "$t/besides"
}

# installs NAME FOLDER VARIABLE...: FOLDER then holds exactly what is expected, and nothing stands beside it.
installs() {
    label=$1
    folder=$2
    shift 2
    expected | sort > "$t/want"
    check "$label" install_with "$@"
    find "$folder" -mindepth 1 -printf '%m %y %P\n' | sort > "$t/got"
    check "$label: files and modes" diff "$t/want" "$t/got"
    check "$label: nothing besides" nothing_besides "$folder"
}

compiles() {
    (cd / && "$bin/sbxc" -t landlock -o "$t/in.landlock" "$t/in.sbx" && [ -s "$t/in.landlock" ])
}

is_static() {
    readelf -lW "$bin/sbxrun" > "$t/headers" && ! grep INTERP "$t/headers"
}

# Even a Makefile that ignored one of the two would write only beneath $t.
installs 'DESTDIR and PREFIX' "$t/root$t/sbx" "DESTDIR=$t/root" "PREFIX=$t/sbx"
installs 'again, over it' "$t/root$t/sbx" "DESTDIR=$t/root" "PREFIX=$t/sbx"
bin=$t/root$t/sbx/bin
for program in sbxc sbxrun; do
    check "$program is the one that was built" cmp "$build/$program" "$bin/$program"
done
printf 'system none\n' > "$t/in.sbx"
check 'sbxc compiles from there' compiles
check 'sbxrun runs from there' "$bin/sbxrun" --version
case $variant in
san) echo 'Left out under the sanitizers, where sbxrun is linked dynamically: that it is static.' ;;
*) check 'sbxrun is static' is_static ;;
esac
# Without PREFIX only DESTDIR keeps it off the host's own folders, so that has to have worked.
if [ "$failed" = 0 ]; then
    rm -rf "$t/root"
    installs 'PREFIX by itself' "$t/root/usr/local" "DESTDIR=$t/root"
else
    echo 'Left out after these failures: the PREFIX of the Makefile.'
fi

echo "install: $passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
