#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# However dwell ends, a second later the kernel holds nothing of ours and no helper lives on.
. tests/lib.sh
need_root
PATH=$PATH:/usr/sbin

kernel_objects() {
	bpftool prog list -j | jq -r '.[] | "prog \(.id) \(.name)"'
	bpftool link list -j | jq -r '.[] | "link \(.id)"'
}

helpers_of() { # processes that carry the marker in their environment
	grep -lz "DWELL_TEST_MARK=$1" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3
}

nothing_left() {
	local before=$1 mark=$2 left
	sleep 1
	left=$(diff <(echo "$before") <(kernel_objects) | grep '^>')
	[ -z "$left" ] || { echo "left in the kernel: $left"; return 1; }
	left=$(helpers_of "$mark")
	[ -z "$left" ] || { echo "still running: $left"; return 1; }
}

# ends_clean WHAT SIGNAL DELAY COMMAND...
ends_clean() {
	local what=$1 signal=$2 delay=$3 before during pid mark=$$-$RANDOM
	shift 3
	before=$(kernel_objects)
	# A script's background commands ignore SIGINT unless told otherwise.
	DWELL_TEST_MARK=$mark env --default-signal=INT "$@" >/dev/null 2>&1 &
	pid=$!
	sleep "$delay"
	for _ in $(seq 100); do # the doctor has moments without any
		during=$(kernel_objects | grep -cE 'canary_|ledger_')
		[ "$during" -gt 0 ] && break
	done
	kill -"$signal" "$pid"
	wait "$pid" 2>/dev/null
	check "$what, $signal: programs were loaded at that moment ($during)" test "$during" -gt 0
	check "$what, $signal: nothing stays attached, pinned or running" nothing_left "$before" "$mark"
}

before=$(kernel_objects)
"$DWELL" doctor >/dev/null 2>&1
check "doctor, ended by itself: nothing stays" nothing_left "$before" none

"$TOOLS/storm" 0 forever >/dev/null & pid=$!
sleep 1
check "a running capture is seen by bpftool" sh -c 'bpftool prog list | grep -q canary_tp_btf'
kill -9 $pid
wait $pid 2>/dev/null
for signal in KILL INT TERM; do
	ends_clean "a capture" $signal 1 "$TOOLS/storm" 0 forever
	ends_clean "doctor" $signal 0.7 "$DWELL" doctor
done
for signal in KILL TERM; do
	# The command itself goes on, as it would without dwell; it does not carry the mark.
	ends_clean "run" $signal 1 "$DWELL" run -- env -u DWELL_TEST_MARK sleep 4
done
check "bpffs holds nothing of dwell's" sh -c '! find /sys/fs/bpf -name "*dwell*" -o -name "*canary*" 2>/dev/null | grep -q .'
finish
