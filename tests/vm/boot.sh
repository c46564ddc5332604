#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# boot.sh NAME VMLINUZ INITRD LOG [DISK]: boots a kernel in QEMU's software emulation and
# exits with the guest job's status; 124: time limit (VM_LIMIT, 1200 s); 125: no status.
# Called by run.sh. The console goes to LOG; its end is shown when the job did not pass.
set -euo pipefail

LIMIT=${VM_LIMIT:-1200}
TIMED_OUT=124
NO_STATUS=125

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
# Its CPUs take turns: where each is a thread, one may meet an int3 while another patches
# the code, as hooks come and go, and the kernel panics of it.
emulate() {
    timeout --foreground -k 5 "$1" qemu-system-x86_64 \
        -accel tcg,thread=single -cpu "$(cpu_model "$name")" -smp 2 -m 1024 \
        -nodefaults -no-reboot -display none -serial "file:$log" \
        -device isa-debug-exit,iobase=0xf4,iosize=0x04 \
        ${disk:+-drive "file=$disk,format=raw,if=virtio"} \
        -kernel "$vmlinuz" -initrd "$initrd" \
        -append "console=ttyS0 quiet panic=-1 oops=panic softlockup_panic=1 ${APPEND:-}" </dev/null 2>"$log.qemu"
}

# job_status QEMU_STATUS: the status of the guest's job. Both ways of telling it must
# agree: QEMU's own errors also end with an odd status, and a test may print anything.
job_status() {
    local told
    told=$(sed -n 's/\r*$//; s/^EXITCODE=\([0-9]\{1,3\}\)$/\1/p' "$log" | tail -n 1)
    if [ "$1" -eq 124 ] || [ "$1" -eq 137 ]; then
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
    rm -f "$log.panic"
    status=$(attempt)
    # The emulator itself makes kernels panic at times, so one panic is forgiven, but
    # not hidden: its log stays, and run.sh mentions it.
    if [ "$status" -eq "$NO_STATUS" ] && grep -aq 'Kernel panic' "$log"; then
        echo "boot.sh: $name: the kernel panicked, trying once more; see $log.panic" >&2
        cp "$log" "$log.panic"
        SECONDS=0
        status=$(attempt)
    fi
    [ "$status" -eq 0 ] || show_failure "$status" >&2
    exit "$status"
}

main "$@"
