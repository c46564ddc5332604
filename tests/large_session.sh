#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One hour of 10,000 threads and 100,000 stacks (generate_session.py): a report within 2 s, a comparison within 5 s, a
# view of dwell query within 1 s, the page's file within 15 s and 15 MB, all with the sums of the session itself.
# LARGE_SECONDS=360 makes it smaller; the limits stay. It needs no root.
# timing: each limit is a time
. tests/lib.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
session=$work/hour.dwell

# within SECONDS COMMAND...: its output is in $work/out
within() {
	local limit=$1 begin end took
	shift
	begin=$(date +%s%N)
	"$@" >"$work/out" 2>"$work/err" || { cat "$work/err"; return 1; }
	end=$(date +%s%N)
	took=$(((end - begin) / 1000000))
	echo "took $took ms of $((limit * 1000))"
	[ "$took" -le $((limit * 1000)) ]
}

check "the session is made" tests/generate_session.py "$session" --seconds "${LARGE_SECONDS:-3600}"
cp "$session" "$work/other.dwell"
echo "# $(($(stat -c %s "$session") / 1000000)) MB"

# perf.data has 64 bytes and 8 for each address, two of them marks, of every sample (perf record -a -g).
perf_bytes=$(sqlite3 "$session" "SELECT sum(s.count * (64 + 8 * (t.depth + 2))) FROM samples s JOIN stacks t ON t.id = s.stack")
samples_bytes=$(sqlite3 "$session" "SELECT sum(pgsize) FROM dbstat WHERE name LIKE '%samples%' OR name LIKE '%stack%' OR name LIKE '%frames%' OR name LIKE '%modules%'")
echo "# perf.data of the same samples: $((perf_bytes / 1000000)) MB; samples and stacks of the session: $((samples_bytes / 1000000)) MB"
check "samples and their stacks take a quarter of that at most" test $((samples_bytes * 4)) -le "$perf_bytes"

check "its report takes 2 s at most" within 2 "$DWELL" report "$session"
check "its parts sum up to the wall clock" grep -q "parts - wall = 0 ns" "$work/out"
for view in ledger_by_service ledger_by_process ledger_by_state top_stacks top_functions lock_waits losses_by_window \
	states_over_time; do
	check "the view $view takes 1 s at most" within 1 "$DWELL" query --csv "$session" "SELECT * FROM $view LIMIT 50"
done
check "the time by state is that of all rows" sh -c "
	[ \"\$('$DWELL' query --csv '$session' 'SELECT sum(time_ns) FROM ledger_by_state')\" = \
	\"\$('$DWELL' query --csv '$session' 'SELECT sum(ns) AS \"sum(time_ns)\" FROM ledger')\" ]"
check "a comparison with itself takes 5 s at most" within 5 "$DWELL" diff --force "$session" "$work/other.dwell"
if "$DWELL" report --html "$work/page.html" tests/none 2>&1 | grep -q "without the page"; then
	skip "the page: built without it"
else
	check "the page takes 15 s at most" within 15 "$DWELL" report --html "$work/page.html" "$session"
	size=$(stat -c %s "$work/page.html")
	check "and has $((size / 1000)) kB, at most 15,000" test "$size" -le 15000000
fi
finish
