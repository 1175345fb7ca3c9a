#!/bin/sh
# Installs the Debian packages that building and testing need and that are missing; prints what it installs,
# and nothing when all is there. ENGINES=1 adds the container engines of the docker tests. An ordinary user
# without sudo is told what is missing.
set -eu
export LC_ALL=C

build='build-essential flex bison libyaml-dev libjansson-dev libidn2-dev libunistring-dev libseccomp-dev musl-tools'
tests='libcmocka-dev bubblewrap tinyscheme python3 python3-jsonschema python3-yaml git mandoc shellcheck cppcheck'
# catatonit is podman's --init, which it only recommends.
engines='docker.io podman catatonit runc crun busybox-static'

wanted="$build $tests"
[ "${ENGINES:-0}" != 1 ] || wanted="$wanted $engines"

if ! command -v dpkg-query > /dev/null; then
    echo "deps: this is no Debian; install by other means: $wanted" >&2
    exit 1
fi

missing=
for package in $wanted; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null) || state=
    [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo > /dev/null; then
        echo "deps: missing packages; as root run: apt-get install$missing" >&2
        exit 1
    fi
    as_root=sudo
fi

echo "deps: installing$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() {
    # shellcheck disable=SC2086 # words, each a package
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
}
if ! { $as_root apt-get update -q && install; } > "$log" 2>&1; then
    cat "$log" >&2
    echo "deps: apt-get failed (see above)" >&2
    exit 1
fi
