#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What each program of each signal costs per event, over the least that one on the same hook would: a clock
# read, a look-up of the thread's storage, an addition (hooks.bpf.c). Both are attached at once, see the same
# events, and the kernel's own clock measures both; its own cost is in both.
. bench/lib.sh
need_tools sqlite3

# program of dwell's | its hook | signal | workload
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
	END
}

# one PROGRAM HOOK SIGNAL COMMAND...: a round
one() {
	local program=$1 hook=$2 signal=$3 name="$1"
	shift 3
	# shellcheck disable=SC2068 # words
	"${BUILD:-build}/bench/hooks" "$hook" "$DWELL" run -q --no-stacks -s "$signal" -o "$work/s.dwell" -- \
		$@ >/dev/null 2>"$work/hooks.txt" || give_up "dwell run -s $signal failed: $(tail -1 "$work/hooks.txt")"
	note "$name" "$(sqlite3 "$work/s.dwell" "SELECT 1.0 * sum(bpf_ns) / sum(events) FROM hooks
		WHERE hook LIKE '$program%' AND events > 100")"
	note "$name-floor" "$(awk -v h="hook_$hook" '$1 == h { print $3 / $2 }' "$work/hooks.txt")"
}

all() {
	while IFS='|' read -r program hook signal command; do
		# shellcheck disable=SC2086 # words
		one "$program" "$hook" "$signal" $command
	done < <(rows)
}

ROUNDS=${ROUNDS_SIGNALS:-5}
interleave all
while IFS='|' read -r program hook signal command; do
	divide "$program-ratio" "$program" "$program-floor"
	goal "$program-ratio" "<=" 2.0 "-s $signal: $program over the floor at $hook"
	show "$program" ns
	show "$program-floor" ns
done < <(rows)
exit $status
