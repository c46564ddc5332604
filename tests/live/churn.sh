#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A recording beside processes that come and go, many of them of programs that nobody ran before: what is over is
# given up, so that memory and descriptors stay where they are. CHURN_SECONDS=600 tests/live/churn.sh takes longer.
. tests/lib.sh
need_root

seconds=${CHURN_SECONDS:-45}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

descriptors() { find "/proc/$1/fd" -mindepth 1 2>/dev/null | wc -l; }
memory_kb() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status" 2>/dev/null; }

# watch PID: "DESCRIPTORS KB" of the two processes that know binaries, once a second
watch() {
	local ingest symbolizer
	while kill -0 "$1" 2>/dev/null; do
		sleep 1
		ingest=$(helpers_of "$1" ingest) symbolizer=$(helpers_of "$1" symbolize)
		[ -z "$ingest" ] || [ -z "$symbolizer" ] ||
			echo "$(($(descriptors "$ingest") + $(descriptors "$symbolizer"))) $(($(memory_kb "$ingest") + $(memory_kb "$symbolizer")))"
	done
}

record() {
	timeout $((seconds * 2 + 60)) "$DWELL" record -a -F 199 --max-overhead 50% -d "$seconds" -o "$work/churn.dwell" 2>"$work/told" &
	local recorder=$! dwell
	sleep 1
	dwell=$(tr -d ' ' <"/proc/$recorder/task/$recorder/children")
	watch "$dwell" >"$work/figures" &
	tests/workloads/churn.py $((seconds - 2)) >"$work/truth"
	wait "$recorder"
}

meta() { python3 -c 'import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).execute(
	"select value from meta where key = ?", sys.argv[2:]).fetchone())' "$work/churn.dwell" "$1"; }
binaries() { awk '/^binaries/ { print $2 }' "$work/truth"; }

# Each binary has a descriptor while it is known: the last 128 that no process has, those of the last 5 s, and what
# runs anyhow.
few_descriptors() {
	local most
	most=$(sort -n "$work/figures" | awk 'END { print $1 }')
	echo "at most $most descriptors with $(binaries) binaries"
	[ "$most" -gt 0 ] && [ "$most" -lt $((128 + $(binaries) * 10 / seconds + 200)) ]
}

# Of those that were looked at, as a table was made or read for each: many end before that
looked_at() { echo $(($(meta unwind_builds) + $(meta unwind_cached))); }
reclaimed() {
	local count least
	count=$(meta unwind_modules_reclaimed) least=$(($(looked_at) - 128 - 100 - $(looked_at) * 15 / seconds))
	echo "$count of $(looked_at) that were looked at, $(binaries) binaries"
	[ "$count" -gt 0 ] && [ "$count" -gt "$least" ]
}

# mean_kb FROM TO: of both, over these parts of the time
mean_kb() {
	awk -v from="$1" -v to="$2" '{ kb[NR] = $2 } END {
		for (i = 1; i <= NR; i++)
			if (i > NR * from && i <= NR * to) { sum += kb[i]; n++ }
		printf "%d", n ? sum / n : 0
	}' "$work/figures"
}

# Tables fill up to their bounds at first; a binary whose symbols stayed would be 50 KB and more.
memory_stays() {
	local before after
	before=$(mean_kb 0.5 0.75) after=$(mean_kb 0.75 1)
	echo "$before KB, then $after KB"
	[ "$before" -gt 0 ] && [ $((after * 100)) -lt $((before * 115)) ]
}

check "processes come and go while dwell records" record
check "at least 150 of them ran a binary of their own" test "$(binaries)" -ge 150
# Those of the last 15 s may be known still, and the last 128 always are
if [ "$(looked_at)" -gt 180 ]; then
	check "binaries that no process runs any more are given up" reclaimed
else
	echo "ok - binaries that no process runs any more are given up # SKIP $(looked_at) were looked at: the host is busy"
fi
check "their descriptors are closed" few_descriptors
check "their memory stays" memory_stays
echo "# $(tail -1 "$work/figures") descriptors and KB of both at the end, $(tr '\n' ' ' <"$work/truth")"
finish
