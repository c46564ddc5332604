#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What stacks of blocked threads cost at more than 100,000 switches a second: the time that they add to a
# switch of two processes with a pipe on one CPU, by their own clock, over what a bpftrace script adds that
# takes the stacks of each switch, as offcputime does. dwell's ledger is in its figure.
. bench/lib.sh
need_tools bpftrace

script='tracepoint:sched:sched_switch {
	@out[kstack, ustack, comm] = count();
	@start[args->prev_pid] = nsecs;
	if (@start[args->next_pid]) {
		@ns[args->next_comm] = sum(nsecs - @start[args->next_pid]);
		delete(@start[args->next_pid]);
	} }'

# per_switch NAME: nanoseconds, of the pair that runs now
per_switch() {
	taskset -c 0 "$ORACLE" pingpong >"$work/said"
	note "$1" "$(awk '$1 == "rounds" { n = 2 * $2 } $1 == "took" { ns = $2 } END { print n ? ns / n : "none" }' "$work/said")"
}

alone() { per_switch alone; }

with_dwell() {
	start_recorder
	per_switch dwell
	stop_recorder
}

with_bpftrace() {
	bpftrace -e "$script" >/dev/null 2>&1 &
	local tracer=$!
	sleep 3
	kill -0 $tracer 2>/dev/null || give_up "bpftrace does not take the script"
	per_switch bpftrace
	kill -INT $tracer
	wait $tracer 2>/dev/null
}

interleave alone with_dwell with_bpftrace
paste "$work/dwell.values" "$work/alone.values" | awk '{ print $1 - $2 }' >"$work/dwell-adds.values"
paste "$work/bpftrace.values" "$work/alone.values" | awk '{ print $1 - $2 }' >"$work/bpftrace-adds.values"
divide to-bpftrace dwell-adds bpftrace-adds
goal to-bpftrace "<=" 0.2 "what a switch costs more, over bpftrace's stacks of each"
for values in alone dwell bpftrace dwell-adds bpftrace-adds; do
	show "$values" ns
done
awk -v ns="$(median dwell)" 'BEGIN { printf "  %.0f switches a second with dwell\n", 1e9 / ns }'
exit $status
