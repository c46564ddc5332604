#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `dwell trace` adds to each call of a function, by the program's own CPU clock, over what programs that do
# nothing add at the same place: at a function whose first instruction is emulated, and at one where it is
# single-stepped; with its return, and without; and at a USDT probe.
. bench/lib.sh
need_tools nm

FILE=$(realpath "$ORACLE")
# place SYMBOL|PROVIDER:PROBE: its offset in the file, as for -u FILE:0xOFFSET
place() {
	local address segment
	case $1 in
	*:*) address=$(LC_ALL=C readelf -n "$FILE" | awk -v p="${1%:*}" -v n="${1#*:}" '
		$1 == "Provider:" { provider = $2 } $1 == "Name:" { name = $2 }
		$1 == "Location:" && provider == p && name == n { sub(/^0x/, "", $2); sub(/,.*/, "", $2); print $2 }') ;;
	*) address=$(nm "$FILE" | awk -v s="$1" '$3 == s { print $1 }') ;;
	esac
	segment=$(readelf -lW "$FILE" | awk '$1 == "LOAD" && / R E / { print $2, $3 }')
	printf '0x%x' $((0x$address - ${segment#* } + ${segment% *}))
}

# each FILE: nanoseconds of CPU for each call
each() { awk '$1 == "ticks" { n = $2 } $1 == "tick_cpu_ns" { ns = $2 } END { print ns / n }' "$1"; }

one() {
	local name=$1 function=$2 how=$3 both=both option=-u
	shift 3
	[ "${function#*:}" = "$function" ] || option=-U
	[ "$how" = both ] || { both=enter; set -- --count; }
	"$ORACLE" "$name" >"$work/none" || give_up "the oracle failed"
	"${BUILD:-build}/bench/nothing" $both "$FILE" "$(place "$function")" "$ORACLE" "$name" >"$work/empty" ||
		give_up "no uprobes here"
	"$DWELL" trace -q --force "$@" $option "$FILE:$function" -o "$work/t.dwell" -- "$ORACLE" "$name" \
		>"$work/dwell" 2>/dev/null || give_up "dwell trace failed"
	note "$name-$how" "$(awk -v a="$(each "$work/dwell")" -v b="$(each "$work/none")" 'BEGIN { print a - b }')"
	note "$name-$how-empty" "$(awk -v a="$(each "$work/empty")" -v b="$(each "$work/none")" 'BEGIN { print a - b }')"
}

all() {
	for how in enter both; do
		one traced-storm traced_tick $how
		one traced-storm-push traced_tock $how
	done
	one traced-storm-usdt dwell_oracle:tick enter
}

ROUNDS=${ROUNDS_TRACE:-3}
interleave all
for name in traced-storm traced-storm-push traced-storm-usdt; do
	for how in enter both; do
		[ -e "$work/$name-$how.values" ] || continue
		divide "$name-$how-ratio" "$name-$how" "$name-$how-empty"
		goal "$name-$how-ratio" "<=" 1.5 "$name, $how: dwell trace over programs that do nothing"
		show "$name-$how" ns
		show "$name-$how-empty" ns
	done
done
exit $status
