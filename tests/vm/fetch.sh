#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Fetches Debian's kernels for the matrix into a cache outside the repository and
# prints one line for each: short name, full version, path of vmlinuz. Called by
# run.sh; by hand: fetch.sh [NAME...]. Remove <cache>/NAME to get a newer kernel.
set -euo pipefail

CACHE=${DWELL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dwell}/kernels
KEYRING=${DWELL_KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}
LIMIT=${FETCH_LIMIT:-300} # seconds for each call of apt-get
STAMP=complete            # written last: a folder without it is fetched again
FLAVOUR=cloud-amd64

fail() {
    printf 'fetch.sh: %s\n' "$@" >&2
    exit 1
}

# suite NAME: the Debian suite that carries this kernel.
suite() {
    case $1 in
    5.10) echo bullseye ;;
    6.1) echo bookworm ;;
    6.12) echo trixie ;;
    7) echo sid ;;
    *) fail "no kernel is called '$1'; there are 5.10, 6.1, 6.12 and 7" ;;
    esac
}

# mirrors: addresses to try, best first. apt itself is asked, so both formats of its
# source lists are understood; only paths that end in /debian can be the archive
# (others may too, which is why the caller tries one after the other).
mirrors() {
    if [ -n "${DWELL_MIRROR:-}" ]; then
        echo "$DWELL_MIRROR"
        return
    fi
    apt-get update --print-uris |
        sed -n "s|^'\(.*/debian\)/*/dists/[^/]*/InRelease'.*|\1|p" | awk '!seen[$0]++'
}

# Every apt call goes through here. Nothing of the machine's own state is read or
# written, except the proxy and the like. Valid-Until is not checked because old
# suites and frozen mirrors have let it pass; signatures and hashes always are.
private_apt() {
    local tool=$1
    shift
    timeout -k 5 "$LIMIT" "$tool" -q \
        -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::State::lists="$work/lists" -o Dir::State::status=/dev/null \
        -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root \
        -o APT::Architecture=amd64 -o APT::Architectures::=amd64 \
        -o APT::Get::AllowUnauthenticated=false -o Acquire::AllowInsecureRepositories=false \
        -o Acquire::Check-Valid-Until=false -o Acquire::Languages=none \
        -o Acquire::Retries=3 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 \
        "$@"
}

# update_lists SUITE: leaves the lists of the first mirror that has the suite.
update_lists() {
    local mirror tried=
    for mirror in $(mirrors); do
        mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
        echo "deb [arch=amd64 signed-by=$KEYRING] $mirror $1 main" >"$work/sources.list"
        # Error-Mode=any: without it a mirror that cannot be reached counts as success.
        if private_apt apt-get -o APT::Update::Error-Mode=any update >"$work/log" 2>&1; then
            return
        fi
        tried+=" $mirror ($(grep -m1 '^[EW]:' "$work/log" || echo "time limit of $LIMIT s"))"
        rm -rf "$work/lists"
    done
    fail "cannot read Debian's suite $1" "tried:${tried:- nothing, apt knows no Debian archive}" \
        "Check the network, and that $KEYRING is recent (package debian-archive-keyring)." \
        "For another archive, such as one that keeps old suites: DWELL_MIRROR=<address> $0 NAME"
}

# newest_version NAME: the newest VER of which the lists have a bootable package.
newest_version() {
    private_apt apt-cache search --names-only \
        "^linux-(image|binary)-${1//./\\.}\.[^ ]*-$FLAVOUR(-unsigned)?\$" |
        sed -n "s/^linux-\(image\|binary\)-\([0-9][^ ]*-$FLAVOUR\).*/\2/p" | sort -V | tail -1
}

# packages NAME VER: what has to be unpacked. Debian split the package with 7.x.
packages() {
    case $1 in
    7) printf '%s\n' "linux-binary-$2" "linux-base-$2" "linux-modules-$2" ;;
    *) echo "linux-image-$2-unsigned" ;;
    esac
}

# vmlinuz DIR VER: its path relative to DIR.
vmlinuz() {
    local path
    for path in "boot/vmlinuz-$2" "usr/lib/modules/$2/vmlinuz"; do
        if [ -f "$1/$path" ]; then
            echo "$path"
            return
        fi
    done
    return 1
}

# fetch NAME: unpacks the kernel into $CACHE/NAME.
fetch() {
    local name=$1 suite version deb path
    local -a debs
    suite=$(suite "$name")
    work=$(mktemp -d "$CACHE/.fetch.XXXXXX")
    chmod 755 "$work"
    echo "fetch.sh: fetching kernel $name from Debian's suite $suite" >&2
    update_lists "$suite"
    version=$(newest_version "$name")
    [ -n "$version" ] || fail "suite $suite has no kernel $name.* of flavour $FLAVOUR" \
        "The suite has moved on: mend suite() or newest_version() in $0."
    mapfile -t debs < <(packages "$name" "$version")
    (cd "$work" && private_apt apt-get download "${debs[@]}" >log 2>&1) ||
        fail "cannot download ${debs[*]} within $LIMIT s:" "$(tail -3 "$work/log")" "Try again later."
    mkdir "$work/root"
    for deb in "$work"/*.deb; do
        dpkg-deb -x "$deb" "$work/root"
    done
    path=$(vmlinuz "$work/root" "$version") || fail "no vmlinuz in ${debs[*]}"
    echo "$version $path" >"$work/root/$STAMP"
    rm -rf "${CACHE:?}/$name"
    mv "$work/root" "$CACHE/$name"
    rm -rf "$work"
}

cached() {
    local version path
    [ -f "$CACHE/$1/$STAMP" ] && read -r version path <"$CACHE/$1/$STAMP" && [ -f "$CACHE/$1/$path" ]
}

main() {
    local name version path
    [ $# -gt 0 ] || set -- 5.10 6.1 6.12 7
    mkdir -p "$CACHE"
    exec 9>"$CACHE/.lock"
    flock -w "$LIMIT" 9 || fail "another fetch has held $CACHE/.lock for $LIMIT s"
    work=
    trap 'rm -rf "$work"' EXIT
    for name in "$@"; do
        suite "$name" >/dev/null
        cached "$name" || fetch "$name"
        read -r version path <"$CACHE/$name/$STAMP"
        echo "$name $version $CACHE/$name/$path"
    done
}

main "$@"
