#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# From the start of the tool to the start of the command that it follows, when its hooks are attached,
# and the most memory that its processes had resident, together; against bpftrace with the same hooks.
. bench/lib.sh
need_tools bpftrace ps

# Inside, the command itself: says when it began, and what the tool that runs it has taken.
if [ "${1:-}" = --inside ]; then
	date +%s%N >"$2"
	sleep 0.3
	for pid in $(family $PPID); do
		[ "$(cat /proc/"$pid"/comm 2>/dev/null)" = bash ] || cat /proc/"$pid"/status
	done 2>/dev/null | awk '/^VmHWM/ { kb += $2 } END { print kb / 1024 }' >>"$2"
	exit 0
fi

hooks='tracepoint:sched:sched_switch { @switch[tid] = nsecs } tracepoint:sched:sched_waking { @waking[tid] = nsecs }
	tracepoint:sched:sched_wakeup { @wakeup[tid] = nsecs } tracepoint:sched:sched_wakeup_new { @new[tid] = nsecs }
	tracepoint:task:task_newtask { @task[tid] = nsecs }'
inside="$(command -v bash) $(realpath "$0") --inside $work/stamp"

# timed NAME COMMAND...
timed() {
	local name=$1 begin
	shift
	rm -f "$work/stamp"
	begin=$(date +%s%N)
	"$@" >"$work/out" 2>&1
	[ -s "$work/stamp" ] || give_up "$name does not work here: $(tail -1 "$work/out")"
	note "$name-ms" "$(awk "NR == 1 { print (\$1 - $begin) / 1e6 }" "$work/stamp")"
	note "$name-mb" "$(tail -1 "$work/stamp")"
}

# shellcheck disable=SC2046,SC2086 # these are words
dwell() { timed dwell "$DWELL" run $(tier A) -q -- $inside; }
bpftrace_alike() { timed bpftrace bpftrace -e "$hooks" -c "$inside"; }

dwell && rm -f "$work"/*.values # verdicts on programs are kept per boot: not the first start counts
interleave dwell bpftrace_alike
divide start dwell-ms bpftrace-ms
divide memory dwell-mb bpftrace-mb
goal start "<=" 0.2 "time until the hooks are attached, over bpftrace's"
goal memory "<=" 0.3 "resident memory, over bpftrace's"
show dwell-ms ms
show bpftrace-ms ms
show dwell-mb MB
show bpftrace-mb MB
exit $status
