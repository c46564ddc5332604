#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs at uprobes are preempted by each other, on one CPU: every call is counted where it belongs,
# and none of these programs is on a stack that its CPU has for it. PREEMPT_SECONDS: how long (60 in
# make check-long). Whether a program can be preempted in its midst, the kernel's build decides: the
# one of 7.x in check-vm can (tests/vm/preempt).
. tests/lib.sh
need_root

work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
ORACLE=$(realpath "$TOOLS/workloads/oracle")
export PREEMPT_SECONDS=${PREEMPT_SECONDS:-5}

truth() { awk -v key="$1" '$1 == key { sum += $2 } END { printf "%.0f", sum }' "$work/truth"; }

# counted NUMBER: the calls of the thread of this number, by the session
counted() {
	jq "[.signals.func[] | select(.by == $1) | .count] | add // 0" "$work/json"
}
unmatched() { jq '[.signals.func[].unmatched | .orphan_start, .orphan_end] | add // 0' "$work/json"; }
strangers() { jq '[.signals.func[] | select(.by < 1 or .by > 4)] | length' "$work/json"; }
equal() { [ "$1" = "$2" ] || { echo "$1, and not $2"; cat "$work/err"; return 1; }; }

# measure OPTIONS...: while the workload runs, the programs' stacks are looked at
measure() {
	timeout $((PREEMPT_SECONDS + 60)) "$DWELL" trace -q --force --max-overhead 100 "$@" -o "$work/a.dwell" \
		-u "$ORACLE:traced_preempt" -- "$ORACLE" traced-preempt >"$work/truth" 2>"$work/err" &
	: >"$work/stacks"
	while kill -0 $! 2>/dev/null && [ ! -s "$work/stacks" ]; do
		sleep 0.2
		"$TOOLS/private_stack" func_enter func_leave func_return >"$work/stacks"
	done
	wait $!
	"$DWELL" report --json "$work/a.dwell" >"$work/json" 2>>"$work/err"
}

has_no_private_stack() { [ -s "$work/stacks" ] && ! grep -v ' no$' "$work/stacks"; }

measure --no-classes --by arg1
check "no program at a uprobe has a stack per CPU" has_no_private_stack
check "the threads preempt each other: $(truth preempted) times" [ "$(truth preempted)" -gt 1000 ]
for number in 1 2 3 4; do
	check "thread $number: each of $(truth "calls_$number") calls is counted" equal "$(counted "$number")" \
		"$(truth "calls_$number")"
done
check "no call is taken for another thread's" equal "$(strangers)" 0
check "no call is without its other end" equal "$(unmatched)" 0

# Stacks are taken in memory that a CPU's programs share: one at a time.
PREEMPT_SECONDS=2 measure --no-classes --by stack
all=$(($(truth calls_1) + $(truth calls_2) + $(truth calls_3) + $(truth calls_4)))
check "by stack: each of $all calls is counted" equal "$(jq '[.signals.funcstack[].count] | add' "$work/json")" "$all"
finish
