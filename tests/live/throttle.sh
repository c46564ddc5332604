#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A load for which dwell costs more than it may: rates are thinned first, the recording lasts as long as it was asked
# to, stacks cover all of it and still stand for all of the CPU time; when the load ends, everything is taken back
# within ten windows.
# timing: dwell's own cost is measured and compared with a limit
. tests/lib.sh
need_root

work=$(mktemp -d)
file=$work/s.dwell
# Two processes that do nothing but system calls, until they are stopped: they live on, so that there is something to
# take back. (Not ones that hand each other a byte: the
# programs at a switch run with interrupts off, where no clock ticks, so samples would stand for too little.)
dd if=/dev/zero of=/dev/null bs=1 status=none &
load=$!
dd if=/dev/zero of=/dev/null bs=1 status=none &
load="$load $!"
# shellcheck disable=SC2086
end_load() {
	kill -9 $load 2>/dev/null
	wait $load 2>/dev/null
}
trap 'end_load; rm -rf "$work"' EXIT
monotonic_ns() { python3 -c 'import time; print(time.monotonic_ns())'; }

sql() { sqlite3 "$file" "$1"; }
is() { [ "$(sql "$1")" = "$2" ] || { echo "$1 gives $(sql "$1"), not $2"; sql "SELECT ts_ns, what, why FROM steps"; return 1; }; }

seconds=24 # ten windows and some more, after the 9 s of load
timeout 90 "$DWELL" record -p "${load/ /,}" --tier B -s syscalls,runq --stacks 1/10 --slow 1ms -F 997 -d $seconds --max-overhead 4% \
	-o "$file" 2>"$work/err" &
dwell=$!
sleep 9
# shellcheck disable=SC2086
kill -STOP $load
load_ended_ns=$(monotonic_ns)
wait $dwell
check "the recording ends well" test $? -eq 0
sql "SELECT printf('# %5.1f s: %s (%s)', (ts_ns - (SELECT value FROM meta WHERE key = 'started_ns')) / 1e9, what, why) FROM steps"
sql "SELECT printf('# %s covers %.1f of %.1f s, thinned to 1/%d', part, covered_ns / 1e9, total_ns / 1e9, thinned) FROM coverage"
check "it lasts for all of -d" is "SELECT max(end_ns) - min(begin_ns) >= 0.99 * 1e9 * $seconds FROM windows" 1
check "nothing is detached" is "SELECT count(*) FROM steps WHERE what LIKE 'detached%'" 0
check "the first reading counts: rates are thinned with the first window" is "SELECT what LIKE 'rates thinned to 1/%' AND
	ts_ns - (SELECT value FROM meta WHERE key = 'started_ns') < 1.5e9 FROM steps ORDER BY ts_ns LIMIT 1" 1
check "nothing is switched off before rates are as low as they go" is "SELECT count(*) FROM steps WHERE what LIKE '% off%'
	AND ts_ns < ifnull((SELECT min(ts_ns) FROM steps WHERE what LIKE 'rates thinned to 1/16%'), ts_ns + 1)" 0
check "stacks cover the whole time, and are thinned" is \
	"SELECT covered_ns = total_ns AND thinned > 1 FROM coverage WHERE part = 'stacks'" 1
check "each part of the recording has its coverage" is "SELECT count(*) FROM coverage WHERE part IN
	('stacks', 'wait_stacks', 'detail', 'tier_b', 'slow', 'syscalls', 'runq') AND covered_ns <= total_ns" 7
check "samples have several weights" is "SELECT count(DISTINCT weight_ns / count) > 1 FROM samples WHERE kind = 0" 1
stands_for_all() {
	sql "SELECT (SELECT total(weight_ns) FROM samples WHERE kind = 0) / (SELECT total(ns) FROM ledger l
		JOIN states s ON s.id = l.state WHERE s.name GLOB 'cpu*')" |
		awk '{ print "they stand for " $1 " of the time"; exit !($1 > 0.9 && $1 < 1.1) }'
}
check "and stand for the CPU time of the ledger, within 10 %" stands_for_all
check "parts - wall = 0 ns" is "SELECT count(*) FROM (SELECT t.end_ns - t.begin_ns AS wall, total(l.ns) AS parts
	FROM threads t LEFT JOIN ledger l ON l.thread = t.id GROUP BY t.id HAVING wall <> parts)" 0
# Others may use the host, and dwell costs more then. Where it cost less than half of the limit in eight windows, all
# is as it was.
quiet=$(sql "SELECT count(*) FROM overhead WHERE window > 9 AND (bpf_ns + user_cpu_ns) / 1e9 / $(nproc) < 0.5 * 0.04")
echo "# after the load there were $quiet quiet readings"
check "something was switched off" is "SELECT count(*) > 0 FROM steps WHERE what LIKE '% off' OR what LIKE '% off for %'" 1
check "and something is taken back" is "SELECT count(*) > 0 FROM steps WHERE what LIKE 'rates restored%' OR what LIKE '% on'" 1
if [ "$quiet" -ge 8 ]; then
	check "what was switched off is switched on again" is "SELECT (SELECT count(*) FROM steps WHERE what LIKE '% off' OR what LIKE '% off for %') -
		(SELECT count(*) FROM steps WHERE (what LIKE '% on' OR what LIKE '% on for %') AND what NOT LIKE 'rates %')" 0
	check "and rates are restored in full" is "SELECT what LIKE 'rates restored, %' FROM steps WHERE what LIKE 'rates %'
		ORDER BY ts_ns DESC LIMIT 1" 1
	back="SELECT count(*) FROM windows WHERE begin_ns >= $load_ended_ns AND begin_ns < (SELECT max(ts_ns) FROM steps
		WHERE what LIKE 'rates restored%' OR what LIKE '% on' OR what LIKE '% on for %')"
	check "everything is back $(sql "$back") windows after the end of the load, 10 at most" \
		test "$(sql "$back")" -le 10
else
	skip "everything is back within 10 windows" "the host was busy: only $quiet quiet readings, 8 are needed"
fi
check "each step is reported at once" test "$(grep -c 'allowed 4 %' "$work/err")" -eq "$(sql 'SELECT count(*) FROM steps')"

"$DWELL" report "$file" | tr -s '\n ' ' ' >"$work/text" # lines are wrapped
covers() {
	[ "$(sql "SELECT covered_ns < total_ns FROM coverage WHERE part = 'syscalls'")" = 0 ] ||
		grep -qE "covers [0-9.]+ of $seconds\.[0-9] s" "$work/text"
}
check "the report says what covers a part of the time" covers
check "and that rates were thinned" grep -q 'thinned at times by the overhead limit: stacks to 1/' "$work/text"

# --- the price by hook and the price of all are the same numbers
check "what hooks cost sums to what all cost" is "SELECT abs((SELECT sum(scaled_ns) FROM hooks) -
	(SELECT sum(bpf_ns) FROM overhead)) <= (SELECT count(*) FROM hooks) * (SELECT count(*) FROM overhead)" 1
"$DWELL" report --json "$file" >"$work/json"
check "also in the JSON" jq -e '.quality.overhead | ([.bpf_ns[]] | add) as $sum |
	$sum > 0.999999 * .bpf_total_ns and $sum < 1.000001 * .bpf_total_ns' "$work/json"
check "the limit is in the session" is "SELECT value FROM meta WHERE key = 'max_overhead'" 4%
timeout 30 "$DWELL" record -q -a -d 1 -o "$file"
check "record has one of 5 %" is "SELECT value FROM meta WHERE key = 'max_overhead'" 5%
finish
