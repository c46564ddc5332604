#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What each program of each signal costs per event, over the least that one on the same hook would: a clock
# read, a look-up of the thread's storage, an addition (hooks.bpf.c). Both are attached at once, see the same
# events, and the kernel's own clock measures both; its own cost is in both.
. bench/lib.sh
need_tools sqlite3 fio losetup

# A disk that is memory: what it takes is the block layer's, and it is there on every host.
load='' loop=''
end_load() { [ -z "$load" ] || { kill -- "-$load" && wait "$load"; } 2>/dev/null; load=; }
end_disk() { [ -z "$loop" ] || losetup -d "$loop"; }
at_end+=(end_load end_disk)
truncate -s 64M "$work/disk"
loop=$(losetup --show -f "$work/disk") || give_up "no loop device can be had"
dd if=/dev/zero of="$work/file" bs=1M count=8 status=none

requests() {
	echo fio --name=x --direct=1 --filename="$loop" --rw=randread --bs=4k --size=64M --io_size=4G --norandommap \
		--number_ios=300000 --output=/dev/null "$@"
}

# program of dwell's, and -WHAT where it has several rows | its hook | signal | workload | the disk's scheduler
rows() {
	cat <<-END
		runq_switch|sched_switch|runq|$ORACLE pingpong
		offcpu_switch|sched_switch|offcpu|$ORACLE pingpong
		sched_switched|sched_switch|sched|$ORACLE pingpong
		sched_wakes|sched_waking|sched|$ORACLE pingpong
		syscalls_exit|sys_exit|syscalls|$ORACLE syscalls
		faults_minor|page_fault_user|faults|$ORACLE faults
		alloc_call|sys_enter|alloc|$ORACLE syscalls
		alloc_resident|rss_stat|alloc|$ORACLE faults
		syscalls_exit-in-vain|sys_exit|syscalls|$ORACLE lookups
		files_enter|sys_enter|files|dd if=$work/file of=$work/other bs=128 status=none
		files_exit|sys_exit|files|dd if=$work/file of=$work/other bs=128 status=none
		block_insert|block_rq_insert|block|$(requests --ioengine=libaio --iodepth=32)|mq-deadline
		block_issue|block_rq_issue|block|$(requests --ioengine=psync)|none
		block_complete|block_rq_complete|block|$(requests --ioengine=psync)|none
		block_complete-queued|block_rq_complete|block|$(requests --ioengine=libaio --iodepth=32)|mq-deadline
	END
}

# one NAME HOOK SIGNAL COMMAND SCHEDULER: a round. dwell looks at its programs' time in the first tenth of a second:
# the load is there before.
one() {
	local name=$1 program=${1%%-*} hook=$2 signal=$3 scheduler=${5:-none}
	echo "$scheduler" >"/sys/block/${loop#/dev/}/queue/scheduler" || give_up "the disk cannot have $scheduler"
	setsid bash -c "while :; do $4; done" >/dev/null 2>&1 &
	load=$!
	sleep 1
	"${BUILD:-build}/bench/hooks" "$hook" "$DWELL" record -q -a -d 1 --no-stacks --max-overhead 100% -s "$signal" \
		-o "$work/s.dwell" >/dev/null 2>"$work/hooks.txt" ||
		give_up "dwell record -s $signal failed: $(tail -1 "$work/hooks.txt")"
	end_load
	note "$name" "$(sqlite3 "$work/s.dwell" "SELECT 1.0 * sum(bpf_ns) / sum(events) FROM hooks
		WHERE hook LIKE '$program%' AND events > 100")"
	note "$name-floor" "$(awk -v h="hook_$hook" '$1 == h { print $3 / $2 }' "$work/hooks.txt")"
}

all() {
	while IFS='|' read -r name hook signal command scheduler; do
		one "$name" "$hook" "$signal" "$command" "$scheduler" </dev/null
	done < <(rows)
}

ROUNDS=${ROUNDS_SIGNALS:-5}
interleave all
while IFS='|' read -r name hook signal _; do
	divide "$name-ratio" "$name" "$name-floor"
	goal "$name-ratio" "<=" 2.0 "-s $signal: $name over the floor at $hook"
	show "$name" ns
	show "$name-floor" ns
done < <(rows)
exit $status
