#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/vm/boot.sh: a guest whose kernel reports a fault of its own has failed, whatever its job says. An emulator that
# prints what it is told to stands in for QEMU.
. tests/lib.sh

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/qemu-system-x86_64" <<-'END'
	#!/bin/bash
	echo "$*" >>"$FOLDER/boots"
	while [ $# -gt 0 ]; do
		[ "$1" != -serial ] || log=${2#file:}
		shift
	done
	cat "$FOLDER/console" >"$log"
	exit "$(cat "$FOLDER/status")"
END
chmod +x "$folder/qemu-system-x86_64"

# boots STATUS QEMU_STATUS LINE...: what boot.sh ends with, when the console has these lines; one boot only
boots() {
	local wanted=$1 status=0
	echo "$2" >"$folder/status"
	printf '%s\r\n' "${@:3}" >"$folder/console"
	rm -f "$folder/boots"
	FOLDER=$folder PATH=$folder:$PATH tests/vm/boot.sh 6.1 vmlinuz initrd "$folder/log" >"$folder/out" 2>&1 || status=$?
	[ "$status" -eq "$wanted" ] && [ "$(wc -l <"$folder/boots")" -eq 1 ] ||
		{ echo "status $status, not $wanted"; cat "$folder/boots" "$folder/out"; return 1; }
}

check "a job that passes" boots 0 1 "ok - all" "EXITCODE=0"
check "a job that fails" boots 3 7 "not ok - all" "EXITCODE=3"
check "a panic, and no second try" boots 126 0 "[    4.123456] Kernel panic - not syncing: Fatal exception"
check "a panic in the middle of a line" boots 126 0 "ok - [   14.123456] Kernel panic - not syncing: Fatal exception"
check "an oops of which the job's end is still seen" boots 126 1 \
	"[    4.123456] Oops: 0000 [#1] PREEMPT SMP NOPTI" "EXITCODE=0"
check "a warning" boots 126 1 "-----BEGIN dmesg-----" \
	"[   24.000000] WARNING: CPU: 1 PID: 77 at kernel/trace/bpf_trace.c:123 bpf_x+0x1/0x2" "EXITCODE=0"
check "a warning with its caller's number" boots 126 1 "[   24.000000][   T77] WARNING: CPU: 1 PID: 77" "EXITCODE=0"
check "a bug" boots 126 1 "[   24.000000] BUG: sleeping function called from invalid context" "EXITCODE=0"
check "which it names" grep -q 'BUG: sleeping function' "$folder/out"
check "what a test says of a BUG: is no fault of the kernel" boots 0 1 "# BUG: 0, WARNING: 0" "EXITCODE=0"
check "an end without a status" boots 125 0 "ok - all"
check "two statuses that differ" boots 125 3 "EXITCODE=0"
finish
