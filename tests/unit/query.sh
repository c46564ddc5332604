#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `dwell query` as it is typed: each view on each session, its sums against the tables', formats, limits, and what
# it refuses. A file that lies is asked too.
. tests/lib.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# exits STATUS COMMAND...
exits() {
	local expected=$1 status
	shift
	timeout 60 "$@" >"$dir/out" 2>"$dir/err"
	status=$?
	[ "$status" -eq "$expected" ] || { echo "exit $status: $(cat "$dir/err")"; return 1; }
}
says() { exits "$1" "${@:3}" && grep -qF -- "$2" "$dir/out" "$dir/err"; }
# answers SESSION SQL TEXT: the rows as CSV, without the line of names
answers() { [ "$("$DWELL" query --csv "$1" "$2" | tail -n +2)" = "$3" ] || { "$DWELL" query --csv "$1" "$2"; return 1; }; }
sql() { python3 -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.executescript(sys.argv[2])' "$@"; }

for name in run server stacks signals causes; do make_session $name "$dir"; done
server=$dir/server.dwell stacks=$dir/stacks.dwell
sql "$dir/empty.dwell" "$(cat tests/sessions/schema.sql)
	INSERT INTO meta VALUES ('schema', 'dwell.session/1')"
# One of an older dwell: tables and columns came later.
cp "$server" "$dir/old.dwell"
sql "$dir/old.dwell" "DROP TABLE connections; DROP TABLE ledger_sums; DROP TABLE details; DROP TABLE rivals;
	ALTER TABLE threads DROP COLUMN account_ns; PRAGMA user_version = 1002"

"$DWELL" query --list --json "$server" >"$dir/list"
views=$(jq -r '.[] | select(.type == "view").name' "$dir/list")
runs() {
	local view bad=0
	for view in $views; do
		exits 0 "$DWELL" query "$1" "SELECT * FROM $view" || { echo "$view"; bad=1; }
	done
	return $bad
}
check "there are views" test "$(wc -w <<<"$views")" -ge 25
for session in run.dwell server.dwell stacks.dwell signals.dwell causes.dwell empty.dwell server.dwell@1s-2s; do
	check "each view answers: $session" runs "$dir/$session"
done
list_is_whole() { exits 0 "$DWELL" query --list "$1" && [ "$(grep -cE '^  [a-z]' "$dir/out")" -eq "$(jq length "$dir/list")" ]; }
check "--list has each view and table" list_is_whole "$server"
check "also of an empty session, with what fills a view" says 0 "filled by dwell record -s block" "$DWELL" query --list "$dir/empty.dwell"
check "and of one that an older dwell wrote" list_is_whole "$dir/old.dwell"
check "where a view over a missing column is not there" grep -q "^  calls_by_process .*(not in this" "$dir/out"
check "and others are" answers "$dir/old.dwell" "SELECT lock, waiter, holder_comm, time_ns FROM lock_waits" \
	"0x7f0012345678,4713,worker-7,1830000000"
check "a table that is missing has no rows" answers "$dir/old.dwell" "SELECT count(*) FROM tcp_connections" 0

# What views say is what the tables say, by another reader of them
python3 - "$server" >"$dir/truth" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
by_window = {}
for window, ns in db.execute("SELECT window, ns FROM ledger"):
    by_window[window] = by_window.get(window, 0) + ns
pid_of = dict(db.execute("SELECT id, pid FROM threads"))
service_of = dict(db.execute("SELECT pid, service FROM processes"))
by_service = {}
for thread, ns in db.execute("SELECT thread, ns FROM ledger"):
    service = service_of.get(pid_of[thread], "")
    by_service[service] = by_service.get(service, 0) + ns
print(sum(by_window.values()), by_window[1], by_service["server.service"], by_service["daemon.service"])
END
read -r all second of_server of_daemon <"$dir/truth"
for view in ledger_by_state ledger_by_service ledger_by_process ledger_by_thread states_over_time; do
	check "$view has all of the ledger's time" answers "$server" "SELECT sum(time_ns) FROM $view" "$all"
	check "and of a part its windows'" answers "$server@1s-2s" "SELECT sum(time_ns) FROM $view" "$second"
done
check "a service has its processes' time" answers "$server" "SELECT sum(time_ns) FROM ledger_by_service
	WHERE service IN ('server.service', 'daemon.service') GROUP BY service ORDER BY service" "$of_daemon
$of_server"
check "shares of a service are 100 %" answers "$server" "SELECT round(sum(share_pct)) FROM ledger_by_service WHERE service = 'server.service'" 100.0
check "tables of a part are a part too" answers "$server@1s-2s" "SELECT count(*), min(window) FROM losses_by_window" 1,1
check "and steps of that time" answers "$server@1s-2s" "SELECT count(*) FROM steps" 1
check "a part where nothing is, is said" says 1 "no window" "$DWELL" query "$server@100s-" "SELECT 1"
# Thread 1 waits throughout and moves in the first and the last of five windows: its silence is one row. Thread 2 stands
# for three that ran; thread 3 had a name for its wait that was taken back.
sql "$dir/silent.dwell" "$(cat tests/sessions/schema.sql)
	INSERT INTO meta VALUES ('schema', 'dwell.session/1'), ('started_ns', '1000000000'), ('window_ns', '1000000000');
	INSERT INTO windows VALUES (0, 1000000000, 2000000000), (1, 2000000000, 3000000000), (2, 3000000000, 4000000000),
		(3, 4000000000, 5000000000), (4, 5000000000, 6000000000);
	INSERT INTO threads (id, tid, begin_ns, end_ns, comm, threads) VALUES (1, 1, 999999000, 6000000000, 'waits', 1),
		(2, 0, 0, 3000000000, 'sum', 3), (3, 3, 1000000000, 2000000000, 'lock', 1);
	INSERT INTO ledger (window, thread, state, object, holder, waker, ns, count) VALUES (0, 1, 16, 0, 0, 0, 1000001000, 1),
		(3, 1, 16, 0, 0, 0, 3000000000, 0), (4, 1, 16, 0, 0, 0, 1000000000, 0), (2, 2, 1, 0, 0, 0, 3000000000, 3),
		(0, 3, 17, 0, 0, 0, 1000000000, 1), (0, 3, 17, 0, 0, 0, -1000000000, -1), (0, 3, 10, 7, 0, 0, 1000000000, 1)"
spread() {
	answers "$1" "SELECT window, threads, time_ns FROM states_over_time WHERE state = (SELECT name FROM states WHERE id = 16)" \
		"0,1.0,1000001000
1,1.0,1000000000
2,1.0,1000000000
3,1.0,1000000000
4,1.0,1000000000"
}
check "a wait without rows is in each window that it covers" spread "$dir/silent.dwell"
cp "$dir/silent.dwell" "$dir/steps.dwell"
sql "$dir/steps.dwell" "DELETE FROM ledger; INSERT INTO window_sums VALUES (0, 16, 1000001000, 1, 0), (1, 16, 0, 0, 1000000000),
	(4, 16, 1000000000, 0, -1000000000), (2, 1, 3000000000, 3, 0); INSERT INTO meta VALUES ('sums.window_sums', '0')"
check "also by the sums of a long session" spread "$dir/steps.dwell"
check "also in a part" answers "$dir/silent.dwell@3s-4s" "SELECT window, time_ns FROM states_over_time" 3,1000000000
check "a sum of threads stays in its window" answers "$dir/silent.dwell" \
	"SELECT window, threads FROM states_over_time WHERE state = (SELECT name FROM states WHERE id = 1)" 2,3.0
check "a name that was taken back is no state of its thread" answers "$dir/silent.dwell" \
	"SELECT count(*) FROM ledger_by_state WHERE state = (SELECT name FROM states WHERE id = 17)" 0
check "a holder that is not known has no name" answers "$dir/silent.dwell" \
	"SELECT waiter_comm, holder, holder_comm FROM lock_waits" "lock,0,"
sql "$dir/stacks.dwell" "INSERT INTO stacks VALUES (-77, -77, 1, 1); INSERT INTO samples (window, pid, kind, state, stack, count, weight_ns)
	VALUES (0, 1, 0, 1, -77, 1, 9000000000)"
check "a stack that leads to itself ends" answers "$stacks" "SELECT count(*) FROM stack_texts WHERE stack = -77" 1
check "samples of a view are those of the report" answers "$stacks" "SELECT sum(samples) FROM top_stacks WHERE stack <> -77" \
	"$("$DWELL" report --json --kernel "$stacks" | jq '[.stacks[].count] | add - 1')"

# Sums that are complete are used, and only for all of a session
sql "$dir/run.dwell" "INSERT INTO ledger_sums SELECT thread, state, call, object, holder, waker, waker_kind, sum(ns), sum(count)
	FROM ledger GROUP BY 1, 2, 3, 4, 5, 6, 7; INSERT INTO meta SELECT 'sums.ledger_sums', max(rowid) FROM ledger"
total=$(python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT sum(ns) FROM ledger").fetchone()[0])' "$dir/run.dwell")
check "with sums, the time is the same" answers "$dir/run.dwell" "SELECT sum(time_ns) FROM ledger_by_thread" "$total"
sql "$dir/run.dwell" "UPDATE ledger_sums SET ns = 0"
check "they are used" answers "$dir/run.dwell" "SELECT sum(time_ns) FROM ledger_by_thread" 0
check "but not for a part" answers "$dir/run.dwell@0-100s" "SELECT sum(time_ns) FROM ledger_by_thread" "$total"
sql "$dir/run.dwell" "DELETE FROM meta WHERE key = 'sums.ledger_sums'"
check "nor where they are not complete" answers "$dir/run.dwell" "SELECT sum(time_ns) FROM ledger_by_thread" "$total"

# Formats; thread 900 has a name with an escape sequence and a new line in it
odd="SELECT process, pid, 1.5 AS half, NULL AS none, x'00ff' AS bytes, pid FROM thread_names WHERE pid = 900"
check "JSON has numbers as numbers, and no name twice" \
	sh -c "'$DWELL' query --json '$server' \"$odd\" | jq -e '.[0] == {process: \"\\u001b[31mred\\n\", pid: 900, half: 1.5, none: null, bytes: \"00ff\", pid_2: 900}'"
check "also where the number is a name, too" \
	sh -c "'$DWELL' query --json '$server' 'SELECT 1 AS a, 2 AS a_2, 3 AS a' | jq -e '.[0] == {a: 1, a_2: 2, a_3: 3}'"
check "JSON of no rows is an empty array" sh -c "'$DWELL' query --json '$server' 'SELECT 1 WHERE 0' | jq -e '. == []'"
csv_is_right() {
	"$DWELL" query --csv "$server" "$odd" | python3 -c '
import csv, sys
rows = list(csv.reader(sys.stdin))
assert rows == [["process", "pid", "half", "none", "bytes", "pid_2"], ["\x1b[31mred\n", "900", "1.5", "", "00ff", "900"]], rows'
}
check "CSV is quoted as its readers want it" csv_is_right
exits 0 "$DWELL" query "$server" "$odd"
check "a table is escaped for a terminal" grep -qF '\x1b[31mred\x0a' "$dir/out"
check "and has no control character" sh -c "! LC_ALL=C grep -qP '[\\x00-\\x09\\x0b-\\x1f\\x7f]' '$dir/out'"
check "what goes into error messages is escaped too" sh -c "'$DWELL' query '$server' \"SELECT \$(printf '\\033')\" 2>&1 | grep -qF 'x1b'"
exits 0 "$DWELL" query "$server" "SELECT 'a' AS text, 5 AS number UNION ALL SELECT 'bbbb', 12345678"
check "numbers are on the right" test "$(cat "$dir/out")" = "text    number
a            5
bbbb  12345678"
exits 0 env COLUMNS=60 "$DWELL" query "$server" "SELECT printf('%.100c', 'x') AS long, 12 AS number"
check "a long text gives way" test "$(tail -n 1 "$dir/out" | wc -m)" -eq 61

# Limits
check "rows beyond the limit are told" says 0 "more than 3 rows" "$DWELL" query --limit-rows 3 "$server" "SELECT * FROM ledger"
check "and are not there" test "$(wc -l <"$dir/out")" -eq 4
check "just as many are not" sh -c "'$DWELL' query --limit-rows 3 '$server' 'SELECT id FROM windows' 2>&1 | wc -l | grep -qx 4"
check "a long text is cut, and that is told" says 0 "1 texts were cut" "$DWELL" query "$server" "SELECT printf('%.9000c', 'x')"
check "a query without an end is ended" says 1 "took longer than" "$DWELL" query --timeout 200ms "$server" \
	"WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
check "a text without an end is refused" says 1 "too big" "$DWELL" query "$server" "SELECT printf('%.600000c', 'x') || printf('%.600000c', 'x')"
check "a wrong limit is wrong usage" says 64 "--limit-rows takes" "$DWELL" query --limit-rows 0 "$server" "SELECT 1"
check "a wrong time too" says 64 "--timeout takes" "$DWELL" query --timeout soon "$server" "SELECT 1"
check "no SELECT is wrong usage" says 64 "needs a SELECT" "$DWELL" query "$server"
check "one that is not quoted too" says 64 "in quotes" "$DWELL" query "$server" SELECT 1
check "no file is told" says 1 "cannot read" "$DWELL" query "$dir/none.dwell" "SELECT 1"

# It only reads
sum=$(cksum "$server")
while read -r statement; do
	check "refused: $statement" says 1 "'dwell query --list" "$DWELL" query "$server" "$statement"
done <<-END
	DELETE FROM ledger
	INSERT INTO meta VALUES ('a', 'b')
	UPDATE meta SET value = 1
	CREATE TABLE a (b)
	CREATE TEMP TABLE a (b)
	DROP TABLE ledger
	DROP VIEW ledger_by_state
	ATTACH '$dir/other.db' AS other
	DETACH main
	VACUUM INTO '$dir/other.db'
	PRAGMA user_version = 5
	PRAGMA writable_schema = 1
	PRAGMA journal_mode = DELETE
	BEGIN
	REINDEX
	ANALYZE
	SELECT load_extension('/tmp/a.so')
	SELECT randomblob(9)
	SELECT * FROM pragma_database_list
	SELECT * FROM dbstat
	SELECT 1; SELECT 2
	SELECT * FROM nothing
	SELEC 1
END
check "and nothing is changed" test "$(cksum "$server")" = "$sum"
check "nor made" test ! -e "$dir/other.db"
check "wrong SQL is told in SQLite's words" says 1 "no such column: wand" "$DWELL" query "$server" "SELECT wand FROM ledger"
check "an empty query is told" says 1 "there is none" "$DWELL" query "$server" " ; "
check "a comment after it is not more" exits 0 "$DWELL" query "$server" "SELECT 1; -- all"
check "columns can be asked for" says 0 "waker_kind" "$DWELL" query "$server" "PRAGMA table_info(ledger)"
check "JSON functions are there" answers "$server" "SELECT sum(value) FROM json_each('[1, 2]')" 3

# A file that lies: views in the place of tables and of views, virtual tables, triggers
cp "$server" "$dir/liar.dwell"
sql "$dir/liar.dwell" "DROP TABLE losses; CREATE VIEW losses AS SELECT 1 AS window, 'lie' AS cause, 9 AS count;
	CREATE VIEW ledger_by_state AS SELECT 'lie' AS state; CREATE VIEW mine AS SELECT * FROM meta;
	CREATE VIRTUAL TABLE index1 USING fts4(a); CREATE TABLE \"more than this dwell knows\" (a); INSERT INTO \"more than this dwell knows\" VALUES (7)"
check "its view in the place of a table has no rows" answers "$dir/liar.dwell" "SELECT count(*) FROM losses_by_window" 0
check "its view in the place of ours is not asked" answers "$dir/liar.dwell" "SELECT count(*) FROM ledger_by_state WHERE state = 'lie'" 0
check "its own views are refused" says 1 "mine" "$DWELL" query "$dir/liar.dwell" "SELECT * FROM mine"
check "a virtual table is refused" says 1 "index1" "$DWELL" query "$dir/liar.dwell" "SELECT * FROM index1"
check "also where no column is read" says 1 "index1" "$DWELL" query "$dir/liar.dwell" "SELECT count(*) FROM index1"
check "a table that this dwell does not know is read" answers "$dir/liar.dwell" 'SELECT a FROM "more than this dwell knows"' 7
finish
