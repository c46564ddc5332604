#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# How often `dwell diff` errs, and how often it finds what changed, with a real program that knows its truth
# (tests/workloads/service.c). As root, on a machine that does nothing else: it takes hours.
#
#   PAIRS=100      pairs of runs of the same program: at most 1 in 100 has a line that is called changed
#   CHANGES=20     pairs for each change: found, ranked first, and sized within 20 % in at least 19 of 20
#   RUNS=10        runs a side for a function that is 1 % slower, SMALL=20 times, drawn from POOL=40 runs a side: found
#                  in at least 15 of 20, or inconclusive with a minimum detectable effect; never unchanged
#   RUN_SECONDS=30 length of a run
# "A disk 2 ms slower" needs null_blk, whose latency can be chosen; without it that part is skipped.
#   MINUTES=600    stop after this time, and judge what there is
#   AGAIN=0        compare runs as they come: do not make one again that was disturbed
#   FORCE=1        judge although other processes use the CPUs
#   KEEP=FOLDER    keep the sessions of pairs that went wrong
. tests/lib.sh
need_root

PAIRS=${PAIRS:-100} CHANGES=${CHANGES:-20} RUNS=${RUNS:-10} SMALL=${SMALL:-20} POOL=${POOL:-40} RUN_SECONDS=${RUN_SECONDS:-30}
work=$(mktemp -d)
trap 'remove_disk; rm -rf "$work"' EXIT

# make_disk NS: a disk that takes that long for each request, by a timer; $DISK is its path
NULL_DISK=/sys/kernel/config/nullb/dwell-diff
DISK=
make_disk() {
	remove_disk
	mkdir "$NULL_DISK" && echo 2 >"$NULL_DISK/irqmode" && echo "$1" >"$NULL_DISK/completion_nsec" &&
		echo 64 >"$NULL_DISK/size" && echo 1 >"$NULL_DISK/power" || return
	DISK=/dev/nullb$(cat "$NULL_DISK/index")
	[ -b "$DISK" ] || DISK=/dev/dwell-diff # newer kernels call it as the folder
}
remove_disk() {
	[ -d "$NULL_DISK" ] || return 0
	echo 0 >"$NULL_DISK/power"
	rmdir "$NULL_DISK"
	DISK=
}

# record_once NAME [VARIABLE=VALUE]...: 499 Hz, so that a function that takes a tenth of a CPU has enough samples; with
# real-time priority, so that what else runs here does not delay it
record_once() {
	SERVICE_SECONDS=$RUN_SECONDS timeout $((RUN_SECONDS * 3 + 30)) env ${DISK:+SERVICE_DISK=$DISK} "${@:2}" "$DWELL" run -q -F 499 ${DISK:+-s block} \
		-o "$work/$1" -- chrt -f 10 "$TOOLS/workloads/oracle" service >/dev/null
}
# A run is made again if the hypervisor took more than 3 % of the time that CPUs were busy, or other processes used more
# than 4 % of the CPUs: then diff calls times inconclusive, or the sides differ by what others did.
again=0 deadline=$(($(date +%s) + 60 * ${MINUTES:-600}))
is_disturbed() {
	[ "$("$DWELL" query --csv "$1" "SELECT (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'steal_ns') > 0.03 * sum(ns * (use != 1)) OR
		sum(ns * (use = 3)) > 0.04 * sum(ns) FROM cpus" | tail -1)" = 1 ]
}
record() {
	while [ "$(date +%s)" -lt $deadline ]; do
		record_once "$@" || return
		[ -z "${FORCE:-}" ] && [ "${AGAIN:-1}" = 1 ] && is_disturbed "$work/$1" || return 0
		again=$((again + 1))
	done
	echo "the time is over" >"$work/err"
	return 1
}
compare() { "$DWELL" diff --json ${FORCE:+--force} "$@" >"$work/out.json" 2>"$work/err"; }
# record_and_compare NAME OPTIONS [VARIABLE=VALUE]...: a run, and its comparison with a.dwell
record_and_compare() {
	# shellcheck disable=SC2086 # options are words
	record "$1" "${@:3}" && compare $2 "$work/a.dwell" "$work/$1"
}
# Pairs whose times diff did not judge, as other processes or the hypervisor disturbed them.
withheld=0
count_withheld() { jq -e '[.lines[].reason | test("disturbed")] | any | not' "$work/out.json" >/dev/null || withheld=$((withheld + 1)); }
keep() {
	[ -n "${KEEP:-}" ] || return 0
	mkdir -p "$KEEP/$1"
	cp "$work"/*.dwell "$work/out.json" "$KEEP/$1/"
}
changed_lines() { jq -r '[.lines[] | select(.verdict == "changed") | "\(.table) \(.name[0:40]) \(.measure) \(.relative)"] | .[0:3] | join("; ")' "$work/out.json"; }

at_most() { [ "$2" -le "$1" ] || { echo "$2, at most $1"; return 1; }; }
at_least() { [ "$2" -ge "$1" ] || { echo "$2, at least $1"; return 1; }; }

# Which pairs were found, first and sized, by the number of the change.
whats=() options=() filters=() settings=() hits=() tried=()
# add WHAT OPTIONS FILTER VARIABLE=VALUE: FILTER says of the JSON whether it was found, first, and sized
add() { whats+=("$1") options+=("$2") filters+=("$3") settings+=("$4") hits+=(0) tried+=(0); }

# compare_change I NUMBER: a run with that change against the run before it
compare_change() {
	if ! record_and_compare c.dwell "${options[$2]}" "${settings[$2]}"; then
		echo "# ${whats[$2]}, pair $1 failed: $(cat "$work/err")"
		return
	fi
	tried[$2]=$((tried[$2] + 1))
	if jq -e "${filters[$2]}" "$work/out.json" >/dev/null; then
		hits[$2]=$((hits[$2] + 1))
	else
		echo "# ${whats[$2]}, pair $1: $(jq -c '.verdict' "$work/out.json"); $(changed_lines)"
		keep "${whats[$2]// /-}-$1"
	fi
	rm -f "$work/c.dwell"
}

# compare_same I: a run against the one of the same program before it
compare_same() {
	if ! record_and_compare b.dwell ""; then
		echo "# pair $1 failed: $(cat "$work/err")"
		return
	fi
	judged=$((judged + 1))
	count_withheld
	if ! jq -e '.summary.changed == 0' "$work/out.json" >/dev/null; then
		wrong=$((wrong + 1))
		echo "# pair $1: $(changed_lines)"
		keep "same-$1"
	fi
	mv "$work/b.dwell" "$work/a.dwell"
}

# A chain of runs: each run of the same program is compared with the one before it, and so is each changed run, which
# is between the two. So a run serves up to three pairs.
pairs() {
	local wrong=0 judged=0 changes=$((CHANGES * ${#whats[@]})) most=$PAIRS
	[ "$changes" -le "$most" ] || most=$changes
	record a.dwell
	for i in $(seq "$most"); do
		[ "$(date +%s)" -lt $deadline ] || break
		[ "$i" -gt "$changes" ] || compare_change "$i" $((i % ${#whats[@]}))
		[ "$i" -gt "$PAIRS" ] || compare_same "$i"
		[ $((i % 5)) -ne 0 ] || echo "# $i of $most: $wrong of $judged false alarms, $withheld withheld; found ${hits[*]} of ${tried[*]}; made again: $again"
	done
	echo "# runs that were made again, as the hypervisor or other processes used the CPUs: $again"
	echo "# the same twice: $wrong of $judged pairs have a changed line; of $withheld of them times were not judged"
	check "$PAIRS pairs of the same could be compared" at_least "$PAIRS" "$judged"
	check "at most 1 in 100 of them has a changed line" at_most $(((PAIRS + 99) / 100)) $wrong
	for n in "${!whats[@]}"; do
		[ "$CHANGES" -gt 0 ] || break
		echo "# ${whats[$n]}: found, first and sized in ${hits[$n]} of ${tried[$n]} pairs"
		check "${whats[$n]}: found, first, and sized within 20 % in 19 of 20" at_least $((CHANGES * 19 / 20)) "${hits[$n]}"
	done
}

# The disk is another one for each side, so this is not part of the chain.
slow_disk() {
	local found=0 filter
	filter="$(first "blocked.disk of oracle rose") and ($(sized latency "service read" mean effect 2e6))"
	if [ ! -d /sys/kernel/config/nullb ]; then
		skip "a disk 2 ms slower" "this kernel has no null_blk"
		return
	fi
	for i in $(seq "$CHANGES"); do
		make_disk 1000000 && record a.dwell && make_disk 3000000 && record b.dwell && compare "$work/a.dwell" "$work/b.dwell" &&
			jq -e "$filter" "$work/out.json" >/dev/null && found=$((found + 1)) && continue
		echo "# a disk 2 ms slower, pair $i: $(cat "$work/err") $(changed_lines)"
	done
	remove_disk
	check "a disk 2 ms slower: found, first, and sized within 20 % in 19 of 20" at_least $((CHANGES * 19 / 20)) $found
}
sized() { echo "[.lines[] | select(.table == \"$1\" and .name == \"$2\" and .measure == \"$3\")][0] | .verdict == \"changed\" and (.$4 / $5 - 1 | fabs) < 0.2"; }
first() { echo "(.verdict[0] | startswith(\"$1\"))"; }

# RUNS of the POOL runs of a side, others each time
draw() { seq "$POOL" | shuf -n "$RUNS" --random-source=<(yes "$2") | sed "s|.*|$work/$1&.dwell|"; }

small() {
	local found=0 never=0 filter a b
	rm -f "$work"/*.dwell
	for r in $(seq "$POOL"); do
		record "a$r.dwell"
		record "b$r.dwell" SERVICE_SLOWER=1
	done
	filter="[.lines[] | select(.table == \"function\" and .name == \"known_render\" and .measure == \"self\")][0]"
	for i in $(seq "$SMALL"); do
		mapfile -t a < <(draw a "$i")
		mapfile -t b < <(draw b "$((i + SMALL))")
		compare "${a[@]}" -- "${b[@]}" || { cat "$work/err"; continue; }
		echo "# 1 % slower, $RUNS runs a side, $i: $(jq -c "$filter | [.verdict, .relative, .relative_mde]" "$work/out.json")"
		[ "$(jq -r "$filter.verdict" "$work/out.json")" != changed ] || found=$((found + 1))
		[ "$(jq -r "$filter.verdict" "$work/out.json")" != unchanged ] || never=$((never + 1))
	done
	echo "# a function 1 % slower: changed in $found of $SMALL, unchanged in $never"
	check "1 % slower is never called unchanged" at_most 0 $never
}

add "a function 10 % slower" "" "$(first "cpu.user of oracle rose") and (.verdict[1] | test(\"known_render\")) and ($(sized function known_render self relative 0.1))" SERVICE_SLOWER=10
# 20 holds a second, 5 ms longer each; three threads ask for the lock 100 times a second each, at the same moments.
# Who asks while it is held waits for the rest of it: its truth is the holder's own time, in clock_nanosleep.
add "a lock held 5 ms longer" "" "$(first "blocked.lock of oracle rose") and ([.lines[] | select(.table == \"function\" and .name == \"known_hold_lock\" and .measure == \"total\" and .kind == \"blocked\")][0] | .verdict == \"changed\" and (.effect / 100e6 - 1 | fabs) < 0.2)" SERVICE_HOLD_MS=5
add "one more look-up per request" "--per syscalls:write" "(.verdict | any(startswith(\"Calls of newfstatat of oracle rose\"))) and ($(sized syscall newfstatat count effect 1))" SERVICE_LOOKUPS=1

pairs
[ "$CHANGES" -eq 0 ] || slow_disk
[ "$SMALL" -eq 0 ] || small
finish
