#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh DWELL [TEST...]: the kernel matrix, called by `make check-vm`. Boots each of KERNELS
# with dwell and the tests, compares what the doctor says with expect/NAME.tsv (UPDATE=1
# rewrites those), prints TAP, then a table of features. Logs go to OUT/NAME. A file that
# tests need, but that is no test, is given as SOURCE:DESTINATION. NAME-lockdown is NAME, booted
# with lockdown=confidentiality. NAME-smp is NAME with CPUs that run at the same time; it has the
# test called smp, and no other, nor the doctor.
#
# A guest whose job fails while the hypervisor takes the CPU away (tests/stolen.sh) is booted once more, and the second
# time counts; never after a fault of its kernel.
#
# As many kernels at once as there are cores: the CPUs of most guests take turns on one (boot.sh
# says why).
set -euo pipefail

HERE=$(dirname "$(readlink -f "$0")")
OUT=${OUT:-$HERE/../../build/vm}
EXPECT=${EXPECT:-$HERE/expect}
CACHE=${DWELL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dwell}/kernels # as in fetch.sh
# What takes longest first (592, 466, 403, 317, 79 and 26 s), so that lanes end together.
KERNELS=${KERNELS:-5.10 6.12 7 6.1 6.12-smp 6.1-lockdown}
LANES=$(nproc)
SCHEMA=dwell.doctor/1
SKIPPED=77
KERNEL_FAULT=126 # of boot.sh
. "$HERE/../stolen.sh"

total=0
bad=0

ok() {
    total=$((total + 1))
    echo "ok - vm $1"
}

# not_ok TITLE [DETAIL]
not_ok() {
    total=$((total + 1))
    bad=$((bad + 1))
    echo "not ok - vm $1"
    [ -z "${2:-}" ] || echo "#   ${2//$'\n'/$'\n#   '}"
}

need_tools() {
    local tool missing=
    for tool in qemu-system-x86_64 cpio gzip xz zstd jq objcopy diff; do
        command -v "$tool" >/dev/null || missing+=" $tool"
    done
    [ -z "$missing" ] || { echo "run.sh: not installed:$missing" >&2; exit 1; }
}

# section NAME: what the guest printed between the markers of NAME.
section() {
    sed 's/\r*$//' "$dir/console.log" | awk -v name="$1" '
        $0 == "-----BEGIN " name "-----" { inside = 1; next }
        $0 == "-----END " name "-----" { inside = 0 }
        inside'
}

# status_of NAME: what the section's command ended with; nothing if it did not end.
status_of() {
    sed 's/\r*$//' "$dir/console.log" |
        awk -v name="$1" '$1 == "STATUS" && $2 == name { status = $3 } END { print status }'
}

# prepare NAME: fetches the kernel and packs the initramfs; prints the path of vmlinuz.
prepare() {
    local kernel test source packed=("${files[@]}")
    ! is_locked "$1" || packed=("${files[0]}")
    for test in $(tests_of "$1"); do
        for source in "${test_files[@]}"; do
            [ "${source##*/}" != "$test" ] || packed+=("$source:/tests/$test")
        done
    done
    kernel=$("$HERE/fetch.sh" "${1%-*}") || return 1
    "$HERE/pack.sh" "$CACHE/${1%-*}" "$dir/initrd.gz" "$HERE/job" "${packed[@]}" || return 1
    cut -d ' ' -f 3- <<<"$kernel"
}

# A kernel that may read nothing of itself: the doctor has to explain it, tests cannot run.
is_locked() {
    [[ $1 == *-lockdown ]]
}

is_smp() {
    [[ $1 == *-smp ]]
}

# tests_of NAME: the tests that run in this guest, a line each
tests_of() {
    local test
    is_locked "$1" || for test in "${tests[@]}"; do
        if is_smp "$1"; then
            [ "$test" != smp ] || echo "$test"
        else
            [ "$test" = smp ] || echo "$test"
        fi
    done
}

# boot_once NAME VMLINUZ: the job's status
boot_once() {
    local append='' threads=single
    ! is_locked "$1" || append=lockdown=confidentiality
    ! is_smp "$1" || threads=multi
    rm -f "$dir/disk.img"
    truncate -s 64M "$dir/disk.img"
    APPEND=$append VM_THREADS=$threads "$HERE/boot.sh" "${1%-*}" "$2" "$dir/initrd.gz" "$dir/console.log" "$dir/disk.img" \
        2>"$dir/errors"
}

# boot NAME VMLINUZ: leaves the job's status in its folder, and prints the seconds it took.
boot() {
    local status which before stolen start
    for which in first second; do
        status=0 start=$SECONDS before=$(cpu_time)
        boot_once "$@" || status=$?
        stolen=$(stolen_since "$before")
        echo "# vm $1: $2, $((SECONDS - start)) s, $stolen % of the CPU time stolen"
        [ $which = first ] && [ $status -ne 0 ] && [ $status -ne $KERNEL_FAULT ] && [ "$stolen" -ge "$STOLEN_MOST" ] || break
        cp "$dir/console.log" "$dir/console.first.log"
        echo "# retried: vm $1, after the job ended with $status ($stolen % of the CPU time was stolen)"
    done
    echo "$status" >"$dir/status"
}

# boot_all: what is fetched and packed is booted while the next one is.
boot_all() {
    local name dir vmlinuz
    trap 'kill 0' INT TERM # what runs in the background is not interrupted by itself
    for name in $KERNELS; do
        dir=$OUT/$name
        rm -rf "$dir"
        mkdir -p "$dir"
        while [ "$(jobs -rp | wc -l)" -ge "$LANES" ]; do
            wait -n || :
        done
        if vmlinuz=$(prepare "$name" 2>"$dir/errors"); then
            boot "$name" "$vmlinuz" &
        fi
    done
    wait
}

# check_boot NAME: leaves `status`, the job's. Returns 1 when the guest did not end well.
check_boot() {
    status=$(cat "$dir/status" 2>/dev/null || echo 125)
    case $status in
    124 | 125 | 126) # boot.sh: it did not end, or its kernel reported a fault
        not_ok "$1: boots, runs and ends" "$(cat "$dir/errors")"
        return 1
        ;;
    esac
    ok "$1: boots, runs and ends"
}

# features: the doctor's report as lines "name, status, cause or -".
features() {
    jq -er --arg schema "$SCHEMA" '
        if .schema == $schema then .features[] else error("the schema is not " + $schema) end |
        [.name, .status, .cause.id // "-"] | @tsv' "$dir/doctor.json"
}

# update NAME: the expectation becomes what was seen; comments at the top stay.
update() {
    local file=$EXPECT/$1.tsv header
    mkdir -p "$EXPECT"
    header="# What 'dwell doctor' says of kernel $1 under the emulator: name, status, cause."
    [ ! -f "$file" ] || header=$(awk '!/^#/ { exit } 1' "$file")
    { echo "$header" && cat "$dir/features.tsv"; } >"$file"
    echo "# vm $1: wrote $file, review the difference"
}

# difference NAME: between the expectation and what was seen, whatever the order.
difference() {
    diff -U0 --label expected --label seen \
        <(grep -v -e '^#' -e '^$' "$EXPECT/$1.tsv" | LC_ALL=C sort) \
        <(LC_ALL=C sort "$dir/features.tsv") | grep -v '^@@' || true
}

# compare NAME TITLE
compare() {
    local difference
    if [ ! -f "$EXPECT/$1.tsv" ]; then
        not_ok "$2" "$EXPECT/$1.tsv is missing; UPDATE=1 writes it"
        return
    fi
    difference=$(difference "$1")
    if [ -n "$difference" ]; then
        not_ok "$2" "$difference"
    else
        ok "$2"
    fi
}

check_features() {
    local title="$1: features as expected" doctor seen
    doctor=$(status_of doctor.json)
    section doctor.json >"$dir/doctor.json"
    if [ "$doctor" != 0 ] && [ "$doctor" != "$SKIPPED" ]; then
        not_ok "$title" "the doctor ended with ${doctor:-no status}, see $dir/console.log"
    elif ! seen=$(features 2>&1); then
        not_ok "$title" "the doctor's report cannot be read: $seen"
    else
        echo "$seen" >"$dir/features.tsv"
        [ -z "${UPDATE:-}" ] || update "$1"
        compare "$1" "$title"
    fi
}

# check_test NAME TEST
check_test() {
    local ended
    ended=$(status_of "$2")
    case $ended in
    0) ok "$1: $2" ;;
    "$SKIPPED") ok "$1: $2 # SKIP $(section "$2" | sed -n 's/.*# *SKIP *//p' | tail -n 1)" ;;
    '') not_ok "$1: $2" "it did not end" ;;
    *) not_ok "$1: $2" "$(section "$2" | tail -n 20)"$'\n'"status $ended" ;;
    esac
}

check_kernel() {
    local before=$bad test status dir=$OUT/$1
    # What a guest that stopped half-way did say is still worth checking.
    check_boot "$1" || [ -s "$dir/console.log" ] || return 0
    is_smp "$1" || check_features "$1"
    for test in $(tests_of "$1"); do
        check_test "$1" "$test"
    done
    # No status of the job may get lost, whatever was the reason.
    [ "$status" -eq 0 ] || [ "$bad" -gt "$before" ] || not_ok "$1: the job ended with $status"
}

# table: of all features on all kernels, as TAP comments.
table() {
    local name kernels
    kernels=$(tr ' ' '\n' <<<"$KERNELS" | grep -v -e '-smp$' | sort -V | tr '\n' ' ') || return 0
    for name in $kernels; do
        [ ! -f "$OUT/$name/features.tsv" ] || sed "s/^/$name\t/" "$OUT/$name/features.tsv"
    done | awk -v kernels="$kernels" -f "$HERE/table.awk" | sed 's/^/# /'
}

main() {
    local name file
    [ $# -ge 1 ] || { echo "usage: run.sh DWELL [TEST...]" >&2; exit 2; }
    need_tools
    files=("$1:/bin/dwell")
    tests=()
    test_files=()
    for file in "${@:2}"; do
        case $file in
        *:*) files+=("$file") ;;
        *)
            test_files+=("$file")
            tests+=("${file##*/}")
            ;;
        esac
    done
    boot_all
    for name in $KERNELS; do
        check_kernel "$name"
    done
    echo "1..$total"
    table
    [ "$bad" -eq 0 ] && [ "$total" -gt 0 ]
}

main "$@"
