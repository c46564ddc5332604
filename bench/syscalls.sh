#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What Tier B adds to a program that does nothing but system calls, dd of single bytes, against other
# tools that tell how long system calls take. dd's own clock is used: nobody's start-up is in it.
. bench/lib.sh
need_tools dd strace perf bpftrace
export LC_ALL=C

MANY=400000
FEW=20000 # for those that take long
one_liner='tracepoint:raw_syscalls:sys_enter { @s[tid] = nsecs }
	tracepoint:raw_syscalls:sys_exit /@s[tid]/ { @ns[comm] = hist(nsecs - @s[tid]); delete(@s[tid]); }'

dd_of() { echo "$(command -v dd) if=/dev/zero of=/dev/null bs=1 count=$1"; }

# timed NAME BYTES COMMAND...: notes the nanoseconds per byte that dd, which it runs, says it took
timed() {
	local name=$1 bytes=$2 seconds
	shift 2
	"$@" >"$work/out" 2>&1
	seconds=$(sed -n 's/.* copied, \([0-9.e-]*\) s.*/\1/p' "$work/out")
	[ -n "$seconds" ] || give_up "$name does not work here: $(head -c 300 "$work/out")"
	note "$name" "$(awk "BEGIN { print $seconds * 1e9 / $bytes }")"
}

# shellcheck disable=SC2046 # these are words
{
	bare() { timed bare $MANY $(dd_of $MANY); }
	dwell() { timed dwell $MANY "$DWELL" run $(tier B) -q -- $(dd_of $MANY); }
	histogram() { timed bpftrace $MANY bpftrace -e "$one_liner" -c "$(dd_of $MANY)"; }
	perf_trace() { timed perf-trace $FEW perf trace -s -o "$work/perf" -- $(dd_of $FEW); }
	strace_c() { timed strace $FEW strace -c -f -o "$work/strace" $(dd_of $FEW); }
}

added() { awk "BEGIN { print $(median "$1") - $(median bare) }"; }

# compare TOOL OPERATOR BOUND TEXT: of medians; a difference of two times of one round is mostly noise
compare() {
	note "over-$1" "$(awk "BEGIN { print $(added dwell) / $(added "$1") }")"
	goal "over-$1" "$2" "$3" "$4"
}

interleave bare dwell histogram perf_trace strace_c
dwell_knows run --tier || echo "# this dwell has no Tier B: its figures are Tier A's"
compare strace "<=" 0.0125 "added time over that of strace -c -f"
compare perf-trace "<=" 0.1 "over that of perf trace -s"
compare bpftrace "<=" 0.8 "over that of bpftrace's histogram of latencies"
show bare "ns/byte"
for tool in dwell bpftrace perf-trace strace; do
	show $tool "ns/byte"
done
echo "# a byte is two system calls"
exit $status
