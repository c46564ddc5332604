#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What signals cost per event, against the least that any would: the floor programs on the same hooks
# (floor.bpf.c; of the end of a page fault, on its beginning). All are attached at once and see the
# same events; the kernel's own clock on the programs measures them.
. bench/lib.sh
need_tools bpftool jq

# Inside, while all are attached: notes the programs' counters before and after
if [ "${1:-}" = --inside ]; then
	sed -n 's/^prog_id:[[:space:]]*//p' /proc/$PPID/fdinfo/* | sort -u >"$2/ids"
	bpftool prog show -j >"$2/before"
	"$ORACLE" "$3" >/dev/null
	bpftool prog show -j >"$2/after"
	exit 0
fi

# note_costs: nanoseconds per run of each program that ran often enough, dwell's own and the floor's
note_costs() {
	local name ns runs
	while read -r name ns runs; do
		[ "$runs" -lt 1000 ] || note "$name" "$(awk "BEGIN { print $ns / $runs }")"
	done < <(jq -rn --slurpfile before "$work/before" --slurpfile after "$work/after" --slurpfile ids "$work/ids" '
		($before[0] | map({key: "\(.id)", value: .}) | from_entries) as $old
		| $after[0][]
		| select((.name // "" | startswith("floor_")) or (.id | IN($ids[])))
		| $old["\(.id)"] as $o
		| "\(.name) \((.run_time_ns // 0) - ($o.run_time_ns // 0)) \((.run_cnt // 0) - ($o.run_cnt // 0))"')
}

# measure SIGNALS WORKLOAD
measure() {
	"$FLOOR" "$DWELL" run --no-stacks -s "$1" -q -- "$0" --inside "$work" "$2" >/dev/null ||
		give_up "dwell run -s $1 failed"
	note_costs
}

switches() { measure runq,offcpu,sched pingpong; }
calls() { measure syscalls syscalls; }
faults() { measure faults faults; }

# compare PROGRAM FLOOR: the ratio, without what measuring adds, which an empty program shows
compare() {
	[ -s "$work/$1.values" ] || { echo "$1: no figure"; status=1; return; }
	note "net-$1" "$(awk "BEGIN { print $(median "$1") - $(median floor_empty) }")"
	note "of-$1" "$(awk "BEGIN { print ($(median "$1") - $(median floor_empty)) / ($(median "$2") - $(median floor_empty)) }")"
	goal "of-$1" "<=" 2.0 "over $2; it is $(median "net-$1") ns"
}

ROUNDS=${ROUNDS:-5}
interleave switches calls faults
compare runq_switch floor_switch
compare offcpu_switch floor_switch
compare sched_switched floor_switch
compare sched_wakes floor_waking
compare syscalls_exit floor_exit
compare faults_minor floor_fault
show floor_empty ns
exit $status
