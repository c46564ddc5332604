# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# For tests of signals, which source it after lib.sh: an oracle under dwell, what it says, and what
# the report has.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
oracle=$TOOLS/workloads/oracle
file=$work/a.dwell
json=$work/a.json

# measure SIGNAL WORKLOAD [OPTION]...: leaves $work/truth and $json. A workload that cannot be had is
# told, and gives 1.
measure() {
	local signal=$1 workload=$2
	shift 2
	rm -f "$file"
	timeout 60 "$DWELL" run -q -s "$signal" "$@" -o "$file" -- "$oracle" "$workload" >"$work/truth"
	check "$workload: run -s $signal succeeds" test $? -eq 0
	if grep '^# SKIP' "$work/truth" >"$work/skip"; then
		echo "ok - $workload $(cat "$work/skip")"
		return 1
	fi
	"$DWELL" report --json "$file" >"$json"
	check "$workload: nothing was lost" is "$(sqlite3 "$file" 'SELECT total(count) FROM losses')" 0.0
	check "$workload: nothing is unmatched" is "$(jq "[.signals[\"$signal\"][].unmatched
		| .orphan_start + .orphan_end + .expired] | add // 0" "$json")" 0
}

# truth KEY: what the oracle said; lines of one key are added
truth() { awk -v key="$1" '$1 == key { sum += $2 } END { printf "%.0f\n", sum }' "$work/truth"; }

# sum SIGNAL CONDITION FIELD: over the series for which the condition, jq's, holds
sum() { jq "[.signals[\"$1\"][] | select($2) | .$3] | add // 0" "$json"; }

is() { [ "$1" = "$2" ] || { echo "$1, not $2"; return 1; }; }

# within A B BY: the difference is at most that
within() {
	awk -v a="$1" -v b="$2" -v by="$3" 'BEGIN { exit !((a - b) ^ 2 <= by ^ 2) }' ||
		{ echo "$1, not $2 to within $3"; return 1; }
}

# near A B: 2 % at most, or 100 us
near() { within "$1" "$2" "$(awk -v b="$2" 'BEGIN { by = b * 0.02; if (by < 1e5) by = 1e5; print by }')"; }

# says SIGNAL TEXT: one of its remarks has it
says() { jq -e --arg text "$2" ".remarks[\"$1\"] | any(contains(\$text))" "$json"; }
