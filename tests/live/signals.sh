#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every signal that -s offers, but for dangerous ones, on the whole host at once: it is in the session, in the report,
# which fits a terminal, and in the JSON, which follows its schema and adds up.
. tests/lib.sh
need_root
mount_tracefs

work=$(mktemp -d)
worker=
trap '[ -z "$worker" ] || kill "$worker" 2>/dev/null; rm -rf "$work"' EXIT
session=$work/host.dwell json=$work/report.json text=$work/report.txt

# Of those that this kernel can do: the doctor says so.
"$DWELL" doctor --json >"$work/doctor.json"
mapfile -t signals < <(jq -r '.signals[] | select(.tried and .status != "unavailable" and .cost != "dangerous") | .name' \
	"$work/doctor.json" | grep -Fxf <("$DWELL" record -s help | awk 'NR > 1 { print $1 }') | sort)
list=$(IFS=,; echo "${signals[*]}")

# A host that does nothing has nothing to show: one that sleeps and computes by turns waits for CPUs.
some_work() {
	while :; do
		sleep 0.01
	done
}
some_work &
worker=$!

records() {
	"$DWELL" record -q -a -d 2 --tier B --max-overhead 100% -s "$list" --slow 1ms -o "$session" 2>"$work/err"
}
check "${#signals[@]} signals are recorded at once: $list" records
kill "$worker" && worker=
"$DWELL" report "$session" >"$text"
"$DWELL" report --json --histograms "$session" >"$json"
# What goes into a pipe is not cut; a terminal's lines are.
script -qec "stty cols 80; $DWELL report --color never $session" /dev/null </dev/null | tr -d '\r' >"$text.80"
check "the report fits into 80 columns" env LC_ALL=C awk '{ gsub(/[\200-\277]/, ""); if (length($0) > 80) { print; bad = 1 } } END { exit bad || NR < 20 }' "$text.80"
check "its JSON follows the schema" tests/schema.py docs/report.schema.json "$json"
for signal in "${signals[@]}"; do
	check "$signal has a section" grep -q "^SIGNAL $signal:" "$text"
	check "$signal is in the JSON, and lost nothing" jq -e --arg s "$signal" \
		'.signals[$s] != null and (.shares[] | select(.signal == $s) | .lost == 0 and .places > 0)' "$json"
done
check "threads waited for a CPU" jq -e '[.signals.runq[].count] | add > 10' "$json"
check "counts are those of the buckets" jq -e '[.signals[][] | .count == ([.buckets[][2]] | add // 0)] | all' "$json"
check "percentiles grow, up to the maximum" jq -e '[.signals[][] | select(.unit == "ns" and .count > 0)
	| .p50_ns <= .p90_ns and .p90_ns <= .p95_ns and .p95_ns <= .p99_ns and .p99_ns <= .p999_ns and .p999_ns <= .max_ns] | all' "$json"
check "an average is between nothing and the maximum" jq -e '[.signals[][] | select(.unit == "ns" and .count > 0)
	| .sum_ns <= .count * .max_ns] | all' "$json"
check "the scheduler's tick is known" jq -e '.meta.tick_ns | tonumber | . >= 1000000 and . <= 10000000' "$json"
check "it is marked on runq's histogram" sh -c "'$DWELL' report --signal runq '$session' | grep -q 1/HZ"
check "a part of it has less" sh -c "test \$('$DWELL' report --json '$session@1s-' | jq '[.signals.runq[].count] | add') -lt \
	\$(jq '[.signals.runq[].count] | add' '$json')"
finish
