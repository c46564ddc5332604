#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# boot.sh NAME VMLINUZ INITRD LOG [DISK]: boots a kernel in QEMU's software emulation and exits
# with the guest job's status; 124: time limit (VM_LIMIT, 2400 s); 125: no status; 126: the kernel
# reported a fault of its own, such as a panic, whatever the job's status was. There is no second
# try. Called by run.sh. The console goes to LOG; its end is shown when the job did not pass.
# VM_THREADS=multi gives each CPU of the guest a thread of its own (default: single).
set -euo pipefail

LIMIT=${VM_LIMIT:-2400}
TIMED_OUT=124
NO_STATUS=125
KERNEL_FAULT=126

# What a kernel prints about a fault of its own. Kernel messages begin with their time; what a test
# prints about a "BUG:" does not count. The console shows emergencies only; init prints the rest
# when the job has ended.
FAULTS='\[ *[0-9]+\.[0-9]{6}\](\[ *[TC][0-9]+\])? .*(Kernel panic|BUG:|BUG at |Oops|WARNING:|general protection fault|KASAN:|scheduling while atomic)'

# QEMU 7.2 emulates cmpxchg16b wrongly, which makes 6.12 panic now and then; without the
# instruction 6.12 is fine. 7.x needs it: lacking it, task storage silently stays empty.
cpu_model() {
    case $1 in
    6.12*) echo max,cx16=off ;;
    *) echo max ;;
    esac
}

# emulate SECONDS: one boot, returns the status of QEMU. Never KVM: a nested one may
# hang, and the matrix should mean the same everywhere. An oops counts as a panic.
# With thread=single the guest's CPUs take turns: no two programs of ours ever run at the same
# time. With thread=multi they do, but QEMU 7.2 may keep the translation of an int3 that another
# CPU has replaced meanwhile, and the kernel panics of that; each hook that comes or goes is a
# chance for it. So one guest has it, which attaches few hooks (smp in run.sh).
emulate() {
    timeout --foreground -k 5 "$1" qemu-system-x86_64 \
        -accel "tcg,thread=${VM_THREADS:-single}" -cpu "$(cpu_model "$name")" -smp 2 -m 1024 \
        -nodefaults -no-reboot -display none -serial "file:$log" \
        -device isa-debug-exit,iobase=0xf4,iosize=0x04 \
        ${disk:+-drive "file=$disk,format=raw,if=virtio"} \
        -kernel "$vmlinuz" -initrd "$initrd" \
        -append "console=ttyS0 quiet printk.time=1 panic=-1 oops=panic softlockup_panic=1 ${APPEND:-}" </dev/null 2>"$log.qemu"
}

# job_status QEMU_STATUS: the status of the guest's job. Both ways of telling it must
# agree: QEMU's own errors also end with an odd status, and a test may print anything.
job_status() {
    local told
    told=$(sed -n 's/\r*$//; s/^EXITCODE=\([0-9]\{1,3\}\)$/\1/p' "$log" | tail -n 1)
    if grep -aqE "$FAULTS" "$log"; then
        echo "$KERNEL_FAULT"
    elif [ "$1" -eq 124 ] || [ "$1" -eq 137 ]; then
        echo "$TIMED_OUT"
    elif [ -n "$told" ] && [ "$1" -eq $(((told & 127) << 1 | 1)) ]; then
        echo "$told"
    elif [ -n "$told" ] && [ "$1" -eq 0 ] && [ -n "${APPEND:-}" ]; then
        echo "$told" # lockdown keeps the guest from the port, so it just powered off
    else
        echo "$NO_STATUS"
    fi
}

attempt() {
    local qemu=0
    : >"$log"
    emulate $((LIMIT > SECONDS ? LIMIT - SECONDS : 1)) || qemu=$?
    job_status "$qemu"
}

show_failure() {
    case $1 in
    "$TIMED_OUT") echo "boot.sh: $name: no end within $LIMIT s" ;;
    "$NO_STATUS") echo "boot.sh: $name: the guest ended without a status" ;;
    "$KERNEL_FAULT")
        echo "boot.sh: $name: the kernel reported a fault of its own:"
        grep -aE -m 5 "$FAULTS" "$log" | tr -d '\r'
        ;;
    *) echo "boot.sh: $name: the job ended with $1" ;;
    esac
    cat "$log.qemu"
    echo "boot.sh: the end of $log:"
    tail -n 30 "$log" | tr -d '\r'
}

main() {
    [ $# -ge 4 ] || { echo "usage: boot.sh NAME VMLINUZ INITRD LOG [DISK]" >&2; exit 2; }
    name=$1 vmlinuz=$2 initrd=$3 log=$4 disk=${5:-}
    local status
    status=$(attempt)
    [ "$status" -eq 0 ] || show_failure "$status" >&2
    exit "$status"
}

main "$@"
