#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What reading out 10,000 threads once a second costs: the CPU time of dwell's processes, by the
# scheduler's count, as a share of one core. Each thread wakes every five seconds.
. bench/lib.sh
dwell_knows record || give_up "this dwell has no 'record'"

SECONDS_EACH=${SECONDS_EACH:-4}

"$ORACLE" threads10k >"$work/threads" &
threads=$!
stop_threads() { kill $threads 2>/dev/null && wait $threads 2>/dev/null; }
at_end+=(stop_threads)
for _ in $(seq 300); do
	grep -q ready "$work/threads" && break
	sleep 0.1
done
grep -q ready "$work/threads" || give_up "10,000 threads cannot be had here: see ulimit -u and pids.max"

start_recorder
sleep 3 # its start is not what is measured

# cpu_ns: of all threads of dwell's processes, since they began
cpu_ns() {
	local pid
	for pid in $(family "$recorder"); do
		cat /proc/"$pid"/task/*/schedstat
	done | awk '{ ns += $1 } END { printf "%.0f", ns }'
}

read_out() {
	local before begin
	before=$(cpu_ns) begin=$(date +%s%N)
	sleep "$SECONDS_EACH"
	note read-out "$(awk "BEGIN { print 100 * ($(cpu_ns) - $before) / ($(date +%s%N) - $begin) }")"
}

interleave read_out
goal read-out "<=" 1 "% of one core, dwell and its worker, one window a second"
show read-out "%"
exit $status
