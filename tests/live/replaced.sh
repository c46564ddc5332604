#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Helper processes of a recording are killed, one after the other, then two at once: each is replaced within a second,
# and the measurement goes on without a gap. REPLACED_SECONDS (16): how long it records. REPLACED_PAUSE=1: 70 s more, in
# which the symbolizer dies too often, and is there again when its minute is over.
# timing: each has a second to come back
. tests/lib.sh
need_root

work=$(mktemp -d)
dwell='' busy=''
trap 'kill $dwell $busy 2>/dev/null; rm -rf "$work"' EXIT

"$TOOLS/workloads/oracle" burn >/dev/null &
busy=$!
"$DWELL" record -a -d "${REPLACED_SECONDS:-16}" --tier B --max-overhead 100% -o "$work/a.dwell" 2>"$work/told" &
dwell=$!
until_begun "$work/a.dwell"
sleep 1

# comes_back NAME: killed, and there again within a second
comes_back() {
	local before now
	before=$(helpers_of $dwell "$1")
	[ -n "$before" ] && kill -9 "$before" || return 1
	for _ in $(seq 20); do
		sleep 0.05
		now=$(helpers_of $dwell "$1")
		[ -z "$now" ] || [ "$now" = "$before" ] || return 0
	done
	echo "there was $before, there is ${now:-none}"
	return 1
}
# The opener is forked again when there is something to open: a program that nobody ran before.
new_program() {
	cp "$TOOLS/workloads/oracle" "$work/new"
	timeout 3 "$work/new" burn >/dev/null &
}
new_program
check "the opener comes back" comes_back opener
sleep 1.5
check "the symbolizer comes back" comes_back symbolize
sleep 1.5
check "ingest comes back" comes_back ingest
sleep 2.2
kill -9 "$(helpers_of $dwell symbolize)"
check "both come back: ingest" comes_back ingest
sleep 1
check "and the symbolizer" test -n "$(helpers_of $dwell symbolize)"
wait $dwell
check "the recording ends well" test $? -eq 0
dwell=
check "it says what happened" grep -q 'the symbolizer process ended and was replaced' "$work/told"
check "of ingest, too" test "$(grep -c 'the ingest process ended and was replaced' "$work/told")" -eq 2

sql() { sqlite3 "$work/a.dwell" "$1"; }
check "no window is missing" test "$(sql "SELECT count(*) FROM windows w WHERE id > 0 AND
	begin_ns <> (SELECT end_ns FROM windows b WHERE b.id = w.id - 1)")" -eq 0
check "the parts of every thread are its time" test "$(sql "SELECT count(*) FROM threads t WHERE end_ns - begin_ns <>
	(SELECT total(ns) FROM ledger WHERE thread = t.id)")" -eq 0
check "no CPU has more time than there was" test "$(sql "SELECT count(*) FROM (SELECT total(ns) AS ns FROM cpus GROUP BY cpu)
	WHERE ns > (SELECT max(end_ns) FROM threads) - (SELECT min(begin_ns) FROM windows) + 1e8")" -eq 0
check "no thread was longer in system calls than it lived" test "$(sql "SELECT count(*) FROM (SELECT thread_tid AS tid,
	thread_start_ns AS start, total(total_ns) AS ns FROM calls GROUP BY 1, 2) c
	WHERE ns > (SELECT total(end_ns - begin_ns) FROM threads t WHERE t.tid = c.tid AND t.start_ns = c.start)")" -eq 0
check "each thread is there once" test "$(sql "SELECT count(*) - count(DISTINCT pid || ' ' || tid || ' ' || start_ns) FROM threads
	WHERE begin_ns > 0")" -eq 0
check "processes have their programs" test "$(sql "SELECT exe FROM processes WHERE pid = $busy")" = "$(readlink -f "$TOOLS/workloads/oracle")"
check "two windows have lost time, two at most: it is unattributed" test "$(sql "SELECT count(DISTINCT window) FROM ledger
	JOIN threads t ON t.id = thread WHERE t.pid = $busy AND state = 0 AND ns > 1e8")" -le 2
check "no more is lost of who was busy than these windows" test "$(sql "SELECT total(ns) < 3e9 FROM ledger
	JOIN threads t ON t.id = thread WHERE t.pid = $busy AND state = 0")" -eq 1
check "what ingest had is counted as lost" test "$(sql "SELECT count(*) FROM losses WHERE cause = 'ingest_ended'")" -eq 2
check "the report tells it" sh -c "COLUMNS=500 '$DWELL' report '$work/a.dwell' | grep -q 'symbolizer process ended and was replaced 2 times:'"
# Of the last three seconds, when all is known again
complete() {
	sql "SELECT 100 * total(count * (stop IN (SELECT id FROM stops WHERE name IN ('end', 'zero')))) / total(count) >= 99,
		total(count) FROM samples WHERE pid = $busy AND window >= (SELECT max(id) - 2 FROM windows)" | tee "$work/complete"
	grep -q '^1|' "$work/complete"
}
check "stacks are complete again: 99 %" complete
check "their functions have names" test "$(sql "SELECT count(*) FROM samples JOIN stacks ON stacks.id = stack JOIN frames ON
	frames.id = frame WHERE pid = $busy AND name IS NULL AND window >= (SELECT max(id) - 2 FROM windows)")" -eq 0
[ -z "${KEEP:-}" ] || cp "$work/a.dwell" "$KEEP"

# --- one that dies again and again ---

dies_until_paused() {
	for _ in $(seq 12); do
		grep -q 'was replaced 5 times within a minute, and has ended again' "$work/told" && return 0
		kill -9 "$(helpers_of $dwell symbolize)" 2>/dev/null
		sleep 1.2
	done
	return 1
}
is_back() {
	for _ in $(seq 62); do
		[ -n "$(helpers_of $dwell symbolize)" ] && return 0
		sleep 1
	done
	return 1
}
if [ -n "${REPLACED_PAUSE:-}" ]; then
	"$DWELL" record -a -d 90 -o "$work/a.dwell" 2>"$work/told" &
	dwell=$!
	until_begun "$work/a.dwell"
	sleep 1
	check "a symbolizer that died 6 times within a minute is not replaced at once" dies_until_paused
	check "none is there" test -z "$(helpers_of $dwell symbolize)"
	check "within a minute there is one again" is_back
	sleep 3
	kill -INT $dwell
	wait $dwell
	check "that recording ends well" test $? -eq 0
	dwell=
	check "its stacks are complete again: 99 %" complete
fi
finish
