#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# How often `dwell diff` errs, and how often it finds what changed, with a real program that knows its truth
# (tests/workloads/service.c). As root, on a machine that does nothing else: it takes hours.
#
#   PAIRS=100      pairs of runs of the same program: at most 1 in 100 has a line that is called changed
#   CHANGES=20     pairs for each change: found, ranked first, and sized within 20 % in at least 19 of 20
#   RUNS=10        runs a side for a function that is 1 % slower, SMALL=20 times: found in at least 15 of 20, or
#                  inconclusive with a minimum detectable effect; never unchanged
#   RUN_SECONDS=30 length of a run
# "A disk 2 ms slower" needs null_blk, whose latency can be chosen; without it that part is skipped.
#   FORCE=1        judge although other processes use the CPUs
#   KEEP=FOLDER    keep the sessions of pairs that went wrong
. tests/lib.sh
need_root

PAIRS=${PAIRS:-100} CHANGES=${CHANGES:-20} RUNS=${RUNS:-10} SMALL=${SMALL:-20} RUN_SECONDS=${RUN_SECONDS:-30}
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

# record NAME [VARIABLE=VALUE]...: 499 Hz, so that a function that takes a tenth of a CPU has enough samples; with
# real-time priority, so that what else runs here does not delay it
record() {
	SERVICE_SECONDS=$RUN_SECONDS timeout $((RUN_SECONDS * 3 + 30)) env ${DISK:+SERVICE_DISK=$DISK} "${@:2}" "$DWELL" run -q -F 499 ${DISK:+-s block} \
		-o "$work/$1" -- chrt -f 10 "$TOOLS/workloads/oracle" service >/dev/null
}
compare() { "$DWELL" diff --json ${FORCE:+--force} "$@" >"$work/out.json" 2>"$work/err"; }
keep() {
	[ -n "${KEEP:-}" ] || return 0
	mkdir -p "$KEEP/$1"
	cp "$work"/*.dwell "$work/out.json" "$KEEP/$1/"
}
changed_lines() { jq -r '[.lines[] | select(.verdict == "changed") | "\(.table) \(.name[0:40]) \(.measure) \(.relative)"] | .[0:3] | join("; ")' "$work/out.json"; }

at_most() { [ "$2" -le "$1" ] || { echo "$2, at most $1"; return 1; }; }
at_least() { [ "$2" -ge "$1" ] || { echo "$2, at least $1"; return 1; }; }

same() {
	local wrong=0 disturbed=0
	for i in $(seq "$PAIRS"); do
		if ! { record a.dwell && record b.dwell && compare "$work/a.dwell" "$work/b.dwell"; }; then
			echo "# pair $i failed: $(cat "$work/err")"
			continue
		fi
		! jq -e '[.warnings[].text | test("not measured used")] | any' "$work/out.json" >/dev/null || disturbed=$((disturbed + 1))
		jq -e '.summary.changed == 0' "$work/out.json" >/dev/null && continue
		wrong=$((wrong + 1))
		echo "# pair $i: $(changed_lines)"
		keep "same-$i"
	done
	echo "# the same twice: $wrong of $PAIRS pairs have a changed line; $disturbed pairs were disturbed by other processes"
	check "of $PAIRS pairs of the same, at most 1 in 100 has a changed line" at_most $(((PAIRS + 99) / 100)) $wrong
}

# change WHAT OPTIONS FILTER VARIABLE=VALUE...: FILTER says of the JSON whether it was found, first, and sized
change() {
	local found=0 what=$1 options=$2 filter=$3
	shift 3
	for i in $(seq "$CHANGES"); do
		# shellcheck disable=SC2086 # options are words
		if ! { ${BEFORE_A:-:} && record a.dwell && ${BEFORE_B:-:} && record b.dwell "$@" &&
			compare $options "$work/a.dwell" "$work/b.dwell"; }; then
			echo "# pair $i failed: $(cat "$work/err")"
			continue
		fi
		if jq -e "$filter" "$work/out.json" >/dev/null; then
			found=$((found + 1))
		else
			echo "# $what, pair $i: $(jq -c '.verdict' "$work/out.json"); $(changed_lines)"
			keep "${what// /-}-$i"
		fi
	done
	echo "# $what: found, first and sized in $found of $CHANGES pairs"
	check "$what: found, first, and sized within 20 % in 19 of 20" at_least $((CHANGES * 19 / 20)) $found
}
sized() { echo "[.lines[] | select(.table == \"$1\" and .name == \"$2\" and .measure == \"$3\")][0] | .verdict == \"changed\" and (.$4 / $5 - 1 | fabs) < 0.2"; }
first() { echo "(.verdict[0] | startswith(\"$1\"))"; }

small() {
	local found=0 never=0
	for i in $(seq "$SMALL"); do
		rm -f "$work"/*.dwell
		for r in $(seq "$RUNS"); do
			record "a$r.dwell"
			record "b$r.dwell" SERVICE_SLOWER=1
		done
		compare "$work"/a*.dwell -- "$work"/b*.dwell || { cat "$work/err"; continue; }
		filter="[.lines[] | select(.table == \"function\" and .name == \"known_render\" and .measure == \"self\")][0]"
		echo "# 1 % slower, $RUNS runs a side, $i: $(jq -c "$filter | [.verdict, .relative, .relative_mde]" "$work/out.json")"
		[ "$(jq -r "$filter.verdict" "$work/out.json")" != changed ] || found=$((found + 1))
		[ "$(jq -r "$filter.verdict" "$work/out.json")" != unchanged ] || never=$((never + 1))
	done
	echo "# a function 1 % slower: changed in $found of $SMALL, unchanged in $never"
	check "1 % slower is never called unchanged" at_most 0 $never
}

[ "$PAIRS" -eq 0 ] || same
if [ "$CHANGES" -gt 0 ]; then
	change "a function 10 % slower" "" "$(first "cpu.user of oracle rose") and (.verdict[1] | test(\"known_render\")) and ($(sized function known_render self relative 0.1))" SERVICE_SLOWER=10
	# 20 holds a second, 5 ms longer each; three threads ask for the lock 100 times a second each, at the same moments.
	# Who asks while it is held waits for the rest of it: its truth is the holder's own time, in clock_nanosleep.
	change "a lock held 5 ms longer" "" "$(first "blocked.lock of oracle rose") and ([.lines[] | select(.table == \"function\" and .name == \"known_hold_lock\" and .measure == \"total\" and .kind == \"blocked\")][0] | .verdict == \"changed\" and (.effect / 100e6 - 1 | fabs) < 0.2)" SERVICE_HOLD_MS=5
	change "one more look-up per request" "--per syscalls:write" "(.verdict | any(startswith(\"Calls of newfstatat of oracle rose\"))) and ($(sized syscall newfstatat count effect 1))" SERVICE_LOOKUPS=1
	if [ -d /sys/kernel/config/nullb ]; then
		BEFORE_A="make_disk 1000000" BEFORE_B="make_disk 3000000" change "a disk 2 ms slower" "" \
			"$(first "blocked.disk of oracle rose") and ($(sized latency "service read" mean effect 2e6))"
		remove_disk
	else
		skip "a disk 2 ms slower" "this kernel has no null_blk"
	fi
fi
[ "$SMALL" -eq 0 ] || small
finish
