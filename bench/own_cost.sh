#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What dwell says that its programs cost, over what the kernel's clock counts over the whole of the time, beside 10,
# 1,000 and 5,000 threads that each wake once a second.
. bench/lib.sh
need_tools bpftool jq sqlite3
dwell_knows record || give_up "this dwell has no 'record'"

ROUNDS=${ROUNDS_EACH:-3}
SECONDS_EACH=${SECONDS_EACH:-8}
switch=/proc/sys/kernel/bpf_stats_enabled
before=$(cat $switch)
threads=
stop_threads() { [ -z "$threads" ] || { kill "$threads" && wait "$threads"; } 2>/dev/null; threads=; }
restore_switch() { echo "$before" >$switch; }
at_end+=(stop_threads restore_switch)

start_threads() {
	THREADS=$1 WAKE_MS=1000 "$ORACLE" threads10k >"$work/threads" &
	threads=$!
	for _ in $(seq 300); do
		grep -q ready "$work/threads" && return
		sleep 0.1
	done
	give_up "$1 threads cannot be had here: see ulimit -u and pids.max"
}

# programs_of PID: "NAME NS" of each program that this process has loaded
programs_of() {
	local ids
	ids=$(awk '/^prog_id:/ { print $2 }' /proc/"$1"/fdinfo/* 2>/dev/null | sort -u | paste -sd,)
	[ -z "$ids" ] || bpftool prog show -j | jq -r ".[] | select(.id | IN($ids)) | \"\(.name) \(.run_time_ns // 0)\""
}

# hooks_ns: of those that are hooks. The others read tables, for a process of dwell's, whose CPU time has it.
hooks_ns() {
	sqlite3 "$work/own.dwell" "SELECT hook FROM hooks" |
		awk 'NR == FNR { is_hook[$1] = 1; next } $1 in is_hook { ns += $2 } END { print ns / 1e6 }' - "$work/programs"
}

# measure THREADS: the kernel's clock runs all the time; dwell turns it on in bursts, and counts only those
measure() {
	local pid
	echo 1 >$switch
	"$DWELL" record -q -a --tier A --max-overhead 100% -d "$SECONDS_EACH" -o "$work/own.dwell" >"$work/dwell.log" 2>&1 &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		programs_of $pid >"$work/programs.now" 2>/dev/null
		[ ! -s "$work/programs.now" ] || mv "$work/programs.now" "$work/programs"
		sleep 0.1
	done
	wait $pid || give_up "dwell record failed: $(tail -1 "$work/dwell.log")"
	restore_switch
	note "said-$1" "$(sqlite3 "$work/own.dwell" "SELECT sum(bpf_ns) / 1e6 FROM overhead")"
	note "kernel-$1" "$(hooks_ns)"
	rm -f "$work"/own.dwell*
}

for count in 10 1000 5000; do
	start_threads $count
	for _ in $(seq "$ROUNDS"); do
		measure $count
	done
	stop_threads
	divide own-cost-$count said-$count kernel-$count
	goal own-cost-$count ">=" 0.85 "beside $count threads: what dwell says of its programs, over the kernel's clock"
	goal own-cost-$count "<=" 1.15 "the same"
	show said-$count ms
	show kernel-$count ms
done
exit $status
