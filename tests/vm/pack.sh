#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# pack.sh KERNEL_DIR OUT.cpio.gz JOB FILE...: builds the initramfs of a test guest from
# a kernel unpacked by fetch.sh. FILE is SOURCE[:DESTINATION]; without a destination it
# goes to /bin. Called by run.sh. MODULES chooses the kernel modules.
set -euo pipefail

HERE=$(dirname "$(readlink -f "$0")")
MODULES=${MODULES:-virtio_pci virtio_blk mq_deadline null_blk}

fail() {
    echo "pack.sh: $*" >&2
    exit 1
}

# The first that exists of the given paths.
first_of() {
    local path
    for path in "$@"; do
        if [ -e "$path" ]; then
            echo "$path"
            return
        fi
    done
    return 1
}

make_skeleton() {
    chmod 755 "$root" # mktemp makes it 700, and it becomes the guest's /
    mkdir -p "$root"/{bin,boot,dev,etc,modules,proc,root,run,sys,tests,tmp}
    echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
    echo 'root:x:0:' >"$root/etc/group"
    echo '127.0.0.1 localhost' >"$root/etc/hosts"
}

add_base() {
    local busybox
    busybox=$(first_of /bin/busybox /usr/bin/busybox) || fail "no busybox; install busybox-static"
    ! ldd "$busybox" 2>/dev/null | grep -q '=>' || fail "$busybox is not static; install busybox-static"
    cp -L "$busybox" "$root/bin/busybox"
    "${CC:-cc}" -O2 -Wall -static -o "$root/bin/qexit" "$HERE/qexit.c"
    install -m 755 "$HERE/init" "$root/init"
    install -m 755 "$1" "$root/job"
}

# add_file SOURCE[:DESTINATION]: the file and the libraries it is linked with.
add_file() {
    local source=${1%%:*} destination libraries library
    destination=/bin/${source##*/}
    case $1 in *:*) destination=${1#*:} ;; esac
    [ -f "$source" ] || fail "$source: no such file"
    install -D -m "$([ -x "$source" ] && echo 755 || echo 644)" "$source" "$root$destination"
    # ldd fails on static programs, scripts and data: they need no library.
    libraries=$(ldd "$source" 2>/dev/null) || return 0
    case $libraries in *'not found'*) fail "$source: a library is missing:" "$libraries" ;; esac
    grep -oE '/[^ ]+' <<<"$libraries" | while read -r library; do
        install -D "$library" "$root$library"
    done || return 0 # a static PIE names no library
}

# Debian does not build the configuration into the kernel, but installs it here.
add_config() {
    local config
    config=$(first_of "$kernel/boot/config-$version" "$modules/config") || return 0
    cp "$config" "$root/boot/config-$version"
}

unpacked() {
    case $1 in
    *.xz) xz -dc "$1" ;;
    *.zst) zstd -qdc "$1" ;;
    *) cat "$1" ;;
    esac
}

depends_of() {
    objcopy -O binary --only-section=.modinfo "$1" /dev/stdout |
        tr '\0' '\n' | sed -n 's/^depends=//p' | tr ',' ' '
}

# add_module NAME: the module after those it depends on, in the order of loading.
# One that is not found is built in, or the flavour lacks it: the guest does without.
add_module() {
    local name=${1//-/_} pattern file dependency
    [ ! -e "$root/modules/$name.ko" ] || return 0
    pattern=${name//_/[-_]}
    file=$(find "$modules" -name "$pattern.ko" -o -name "$pattern.ko.xz" -o -name "$pattern.ko.zst")
    [ -n "$file" ] || return 0
    unpacked "$file" >"$root/modules/$name.ko"
    for dependency in $(depends_of "$root/modules/$name.ko"); do
        add_module "$dependency"
    done
    echo "$name.ko" >>"$root/modules/order"
}

main() {
    [ $# -ge 3 ] || fail "usage: pack.sh KERNEL_DIR OUT.cpio.gz JOB FILE..."
    kernel=$1
    local out=$2 job=$3 file module
    shift 3
    modules=$(first_of "$kernel"/usr/lib/modules/* "$kernel"/lib/modules/*) || fail "no kernel in $kernel"
    version=${modules##*/}
    root=$(mktemp -d)
    trap 'rm -rf "$root"' EXIT

    make_skeleton
    add_base "$job"
    for file in "$@"; do
        add_file "$file"
    done
    add_config
    : >"$root/modules/order"
    for module in $MODULES; do
        add_module "$module"
    done
    (cd "$root" && find . | cpio -o -H newc -R 0:0 --quiet | gzip -1) >"$out"
}

main "$@"
