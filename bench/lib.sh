# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# For the scripts of this folder, which source it: rounds that take turns, medians, one ratio.
# BUILD is the build folder, set by the Makefile; DWELL another dwell, to compare; ROUNDS how often, at
# least 10.

DWELL=${DWELL:-${BUILD:-build}/dwell}
ORACLE=${BUILD:-build}/tests/workloads/oracle
FLOOR=${BUILD:-build}/bench/floor
ROUNDS=${ROUNDS:-11}
PATH=$PATH:/usr/sbin
status=0

work=$(mktemp -d)
at_end=()
# shellcheck disable=SC2154 # it is a variable of the trap's own
trap 'for undo in "${at_end[@]}"; do $undo; done; rm -rf "$work"' EXIT

give_up() {
	echo "$(basename "$0"): skipped: $1"
	exit 77
}

[ "$(id -u)" -eq 0 ] || give_up "needs root: sudo make bench"

need_tools() {
	local tool
	for tool in "$@"; do
		command -v "$tool" >/dev/null || give_up "needs $tool"
	done
}

# dwell_knows COMMAND [OPTION]: this dwell has it
dwell_knows() {
	"$DWELL" "$1" --help 2>/dev/null | grep -q -- "${2:-Usage}"
}

# tier X: the option, or nothing where dwell has only one
tier() { ! dwell_knows run --tier || echo "--tier $1"; }

# start_recorder [OPTION...]: dwell on the whole host, in Tier A or with these options, as $recorder; comes back
# when it is attached. What it would do by itself to hold its cost down is switched off: here the cost is what is asked for.
recorder=
start_recorder() {
	local unlimited=()
	[ $# -gt 0 ] || set -- --tier A
	! dwell_knows record --max-overhead || unlimited=(--max-overhead 100%)
	"$DWELL" record -a "$@" "${unlimited[@]}" -o "$work/host.dwell" >"$work/dwell.log" 2>&1 &
	recorder=$!
	for _ in $(seq 100); do
		sleep 0.1
		kill -0 $recorder 2>/dev/null || give_up "dwell record failed: $(tail -1 "$work/dwell.log")"
		grep -qs ^link_type /proc/$recorder/fdinfo/* && break
	done
	sleep 0.5
}

stop_recorder() {
	[ -n "$recorder" ] || return
	kill -TERM $recorder 2>/dev/null
	wait $recorder 2>/dev/null
	recorder=
	rm -f "$work"/host.dwell*
}
at_end+=(stop_recorder)

# family PID: it, and all processes below it
family() {
	ps -e -o ppid=,pid= | awk -v top="$1" '{ parent[$2] = $1 } END {
		for (pid in parent) {
			for (at = pid; at > 1 && at != top; at = parent[at])
				;
			if (at == top) print pid
		}
	}'
}

# note NAME VALUE: one more measurement of it. A measurement that failed ends the script.
note() {
	case $2 in
	'' | *[!0-9.eE+-]*)
		echo "$(basename "$0"): no figure for $1: '$2'" >&2
		exit 1
		;;
	esac
	echo "$2" >>"$work/$1.values"
}

# interleave FUNCTION...: calls each in turn, ROUNDS times, every other time in the opposite order, so
# that no one always comes first; each notes what it measured
interleave() {
	local round function order=("$@") turned
	[ "$ROUNDS" -ge 10 ] || echo "# $ROUNDS rounds are too few for a result that counts"
	for round in $(seq "$ROUNDS"); do
		turned=()
		for function in "${order[@]}"; do
			[ ! -t 2 ] || printf '\r%s: round %s of %s\033[K' "$(basename "$0")" "$round" "$ROUNDS" >&2
			"$function"
			turned=("$function" "${turned[@]}")
		done
		order=("${turned[@]}")
	done
	[ ! -t 2 ] || printf '\r\033[K' >&2
}

# quantile NAME Q: 0 is the least, 0.5 the median
quantile() {
	sort -g "$work/$1.values" | awk -v q="$2" '{ v[NR] = $1 } END {
		at = 1 + (NR - 1) * q; low = int(at)
		printf "%.6g\n", v[low] + (at - low) * (v[low < NR ? low + 1 : NR] - v[low]) }'
}

median() { quantile "$1" 0.5; }

# show NAME UNIT: the median, and between which values the half in the middle and all of them lie
show() {
	printf '  %-26s %12.6g %-8s half of them %.6g to %.6g, all %.6g to %.6g\n' "$1" "$(median "$1")" "$2" \
		"$(quantile "$1" 0.25)" "$(quantile "$1" 0.75)" "$(quantile "$1" 0)" "$(quantile "$1" 1)"
}

# divide NAME A B: notes A / B of each round as NAME
divide() {
	paste "$work/$2.values" "$work/$3.values" | awk '{ printf "%.6g\n", $2 ? $1 / $2 : 0 }' >"$work/$1.values"
}

# goal NAME OPERATOR BOUND TEXT: the line that counts. OPERATOR is <= or >=
goal() {
	local value verdict=reached
	value=$(median "$1")
	awk -v v="$value" -v bound="$3" "BEGIN { exit !(v $2 bound) }" || { verdict=MISSED && status=1; }
	printf '%s: %.4g (goal: %s %s) %s: %s\n' "$1" "$value" "$2" "$3" "$verdict" "$4"
}
