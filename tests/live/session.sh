#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dwell record: one file, private, whose windows sum to the wall clock, however the writer ends.
. tests/lib.sh
need_root

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
file=$work/a.dwell

sql() { sqlite3 "$1" "$2"; }
is() { [ "$(sql "$1" "$2")" = "$3" ] || { echo "$2 gives $(sql "$1" "$2"), not $3"; return 1; }; }

# Threads whose rows do not sum to the wall that the kernel's times give
unclosed="SELECT count(*) FROM (SELECT max(t.end_ns, ifnull(max(l.end_ns), 0)) - t.begin_ns AS wall,
		total(l.ns) AS parts
	FROM threads t LEFT JOIN ledger l ON l.thread = t.id GROUP BY t.id HAVING wall <> parts)"
# Windows of threads whose rows up to there do not sum to the time until which the thread was read
uneven="SELECT count(*) FROM (SELECT l.end_ns AS read_ns, l.end_ns - t.begin_ns AS wall,
		sum(l.ns) OVER (PARTITION BY l.thread ORDER BY l.window) AS parts
	FROM ledger l JOIN threads t ON t.id = l.thread WHERE t.begin_ns <> 0) WHERE read_ns IS NOT NULL AND wall <> parts"
# Rows that were read after the next window had ended
late="SELECT count(*) FROM ledger l JOIN windows n ON n.id = l.window + 1 WHERE l.end_ns > n.end_ns"

start=$SECONDS
timeout 60 "$DWELL" record -a -d 5 -o "$file" --label clients=50 --note "a sentence" 2>"$work/err"
check "record -a -d 5 succeeds" test $? -eq 0
check "it took about 5 s ($((SECONDS - start)))" test $((SECONDS - start)) -le 12
check "it says where the session is" grep -q "dwell report $file" "$work/err"
check "the file is private" test "$(stat -c %a "$file")" = 600
check "it is one file" test "$(find "$work" -name 'a.dwell*' | wc -l)" -eq 1
check "it is sound" is "$file" "PRAGMA integrity_check" ok
check "it has 5 windows" is "$file" "SELECT count(*) FROM windows" 5
check "each with the speed of the CPUs: a loop of 1 to 1,000 us" is "$file" "SELECT count(*) FROM speed WHERE loop_ns BETWEEN 1000 AND 1000000" 5
check "windows follow each other without a gap" is "$file" \
	"SELECT count(*) FROM windows a JOIN windows b ON b.id = a.id + 1 WHERE a.end_ns <> b.begin_ns" 0
check "parts - wall = 0 ns on each of $(sql "$file" 'SELECT count(*) FROM threads') threads" \
	is "$file" "$unclosed" 0
# Hooks are attached before the recording begins; the last read-out is after its end, and CPUs come after threads there.
check "no CPU has more time than the recording" is "$file" "SELECT count(*) FROM (SELECT total(ns) AS ns FROM cpus
	GROUP BY cpu) WHERE ns > (SELECT max(end_ns) FROM threads) - (SELECT min(begin_ns) FROM windows) + 1e8" 0
# However late a thread is read on a busy host
check "the parts of each window of a thread go up to when it was read: 0 ns" is "$file" "$uneven" 0
check "which is before the next window ends" is "$file" "$late" 0
# A row that corrects another's provisional name is negative; what is left of a cause in a window is not.
check "no part is negative" is "$file" "SELECT count(*) FROM (SELECT 1 FROM ledger
	GROUP BY window, thread, state, call, object, holder HAVING sum(ns) < 0 OR sum(count) < 0)" 0
check "nothing was lost" is "$file" "SELECT total(count) FROM losses" 0.0
check "its labels and its note are there" is "$file" \
	"SELECT group_concat(value) FROM (SELECT value FROM meta
		WHERE key IN ('label.clients', 'note') ORDER BY key)" "50,a sentence"
check "its end is there" is "$file" "SELECT count(*) FROM meta WHERE key = 'ended_ns'" 1
check "hooks are attached, and the switch has fired" is "$file" \
	"SELECT min(attached OR EXISTS (SELECT * FROM hooks f WHERE f.fallback_of = h.hook)) ||
		(SELECT events > 0 FROM hooks WHERE hook = 'ledger_switch') FROM hooks h" 11
check "the cost was measured" is "$file" \
	"SELECT min(bpf_ns > 0 AND user_cpu_ns > 0 AND rss_bytes > 0 AND map_bytes > 0) FROM overhead" 1
# Columns in their order: they are not to move
sql "$file" "SELECT m.name || ' ' || (SELECT group_concat(name, ' ') FROM pragma_table_info(m.name))
	FROM sqlite_master m WHERE m.type = 'table'" | LC_ALL=C sort >"$work/tables"
documented_tables >"$work/documented"
check "its tables are those of docs/session.md" diff -u "$work/documented" "$work/tables"
check "names of states, contexts, kinds, uses and calls are in it" is "$file" \
	"SELECT (SELECT count(*) FROM states) > 20 AND (SELECT count(*) FROM contexts) > 5
		AND (SELECT count(*) FROM object_kinds) > 5 AND (SELECT count(*) FROM cpu_uses) > 5
		AND (SELECT count(*) FROM syscalls) > 200" 1

check "a session is overwritten, and that is said" sh -c \
	"'$DWELL' record -o '$file' -- true 2>&1 | grep -q 'the session that was there is overwritten'"
echo hello >"$work/other"
check "another file is not" sh -c "! '$DWELL' record -o '$work/other' -- true 2>/dev/null"
check "and is as it was" grep -qx hello "$work/other"
ln -s "$work/other" "$work/link"
check "nor is a link followed" sh -c "! '$DWELL' record -o '$work/link' -- true 2>/dev/null"
check "the default name has the time in it" sh -c \
	"cd '$work' && '$(realpath "$DWELL")' record -q -- true && ls dwell-[0-9]*-[0-9]*.dwell"

"$DWELL" record -q -o "$work/mine.dwell" -- sh -c 'exit 7'
check "the command's status passes through" test $? -eq 7
check "arguments are not kept" sh -c "! grep -q 'exit 7' '$work/mine.dwell'"
check "run -o keeps a session too" sh -c "'$DWELL' run -q -o '$work/run.dwell' -- sleep 0.1"
check "and it closes" is "$work/run.dwell" "$unclosed" 0

stacks="SELECT group_concat(value) FROM (SELECT value FROM meta
	WHERE key IN ('freq', 'min_block_ns', 'seed') ORDER BY key)"
"$DWELL" record -q -F 99 --min-block 200us --seed 7 --lines --inline -o "$work/stacks.dwell" -- true
check "how stacks were taken is there" is "$work/stacks.dwell" "$stacks" 99,200000,7
check "by default too, with a random seed" is "$work/run.dwell" \
	"SELECT min(CAST(value AS INTEGER) > 0) || ',' || count(*) FROM meta WHERE key IN ('freq', 'min_block_ns', 'seed')" 1,3
"$DWELL" record -q --no-stacks -F 99 -o "$work/stacks.dwell" -- true
check "--no-stacks: that is there" is "$work/stacks.dwell" "$stacks" 0
check "--no-stacks: there are none" is "$work/stacks.dwell" "SELECT count(*) FROM samples" 0

# ends_with SIGNAL: a complete session
for signal in INT TERM HUP QUIT; do
	timeout --foreground -s $signal 2.5 env --default-signal=INT,QUIT "$DWELL" record -a -q -o "$work/$signal.dwell"
	check "SIG$signal leaves a complete session" is "$work/$signal.dwell" \
		"SELECT count(*) FROM meta WHERE key = 'ended_ns'" 1
	check "SIG$signal: it closes" is "$work/$signal.dwell" "$unclosed" 0
	check "SIG$signal: one file" test ! -e "$work/$signal.dwell-wal"
done
timeout --foreground -s TERM 1.5 "$DWELL" run -- sleep 2.5 2>"$work/err"
check "run, SIGTERM: the report is there, and closes" grep -q 'parts - wall = 0 ns' "$work/err"

timeout --foreground -s HUP 1.5 nohup "$DWELL" record -a -q -d 3 -o "$work/nohup.dwell" 2>/dev/null
check "nohup is obeyed" is "$work/nohup.dwell" "SELECT count(*) FROM windows" 3
check "SIGCHLD ignored by who called: run ends, and its command ignores it too" \
	timeout 20 env --ignore-signal=CHLD "$DWELL" run -q -- \
	grep -qE '^SigIgn:.*[13579bdf][0-9a-f]{4}$' /proc/self/status
timeout 20 "$DWELL" record -o "$work/none.dwell" -- /nonexistent/program 2>"$work/err"
check "a command that cannot be run: 127" test $? -eq 127
timeout 20 "$DWELL" run -- /nonexistent/program 2>>"$work/err"
check "and with run" test $? -eq 127
check "one line each, and no file" sh -c "! ls '$work'/none.dwell* 2>/dev/null && test \$(wc -l <'$work/err') -eq 2"

# Both processes die at once; what is complete is there.
"$DWELL" record -a -o "$work/killed.dwell" 2>/dev/null & pid=$!
until_begun "$work/killed.dwell"
sleep 3.5
check "while it is written, others are told so" sh -c "! sqlite3 '$work/killed.dwell' 'SELECT * FROM meta'"
worker=$(helpers_of "$pid" ingest)
kill -9 "$pid" "$worker"
wait "$pid" 2>/dev/null
timeout 10 tail --pid="$worker" -f /dev/null # its lock goes with it
check "kill -9 leaves a file and its companion" test -s "$work/killed.dwell-wal"
windows=$(sql "$work/killed.dwell" "SELECT count(*) FROM windows")
check "all complete windows are there ($windows)" test "${windows:-0}" -ge 3
check "and each is closed" is "$work/killed.dwell" "$unclosed" 0
check "it has no end" is "$work/killed.dwell" "SELECT count(*) FROM meta WHERE key = 'ended_ns'" 0

# The disk fills up while it is written; the command and its status are untouched by that.
mkdir "$work/small"
mount -t tmpfs -o size=384k tmpfs "$work/small"
"$DWELL" record -o "$work/small/full.dwell" -- sh -c \
	'for i in $(seq 2000); do /bin/true; done; exit 5' 2>"$work/err"
check "disk full: the command's status passes through" test $? -eq 5
check "disk full: it is said once, with a remedy" test "$(grep -c 'free disk space' "$work/err")" -eq 1
rm "$work/small"/*
timeout 60 "$DWELL" record -a -o "$work/small/all.dwell" 2>"$work/err"
check "disk full, no command: record ends by itself, with 1" test $? -eq 1
check "disk full, no command: what was lost is counted" grep -q 'the last [0-9]* could not be written' "$work/err"
umount "$work/small"

# A session in memory has a bound, which the worker cannot raise, and the report tells of it
"$DWELL" run -q -- sleep 2 & pid=$!
for _ in $(seq 100); do ! pgrep -P "$pid" -x sleep >/dev/null || break; sleep 0.1; done
for child in $(pgrep -P "$pid") $(helpers_of "$pid"); do grep '^Max file size' "/proc/$child/limits"; done >"$work/limits"
check "in memory: the worker's files have a bound" grep -qE '268435456 +268435456' "$work/limits"
check "in memory: the command's have none" grep -q unlimited "$work/limits"
wait "$pid"

# The worker is gone, again and again (once: replaced.sh), or does not answer
"$DWELL" record -a -o "$work/gone.dwell" 2>"$work/err" & pid=$!
until_begun "$work/gone.dwell"
sleep 1.5 # a complete window
for _ in $(seq 20); do
	kill -0 "$pid" 2>/dev/null || break
	worker=$(helpers_of "$pid" ingest)
	[ -z "$worker" ] || kill -9 "$worker"
	sleep 0.5
done
check "a worker that dies again and again ends record" timeout 10 tail --pid "$pid" -f /dev/null
wait "$pid"
check "with 1" test $? -eq 1
check "and why is said" grep -q 'the ingest process ended too often' "$work/err"
check "complete windows are kept, and each is closed" is "$work/gone.dwell" \
	"SELECT (SELECT count(*) > 0 FROM windows) || ',' || ($unclosed) FROM meta LIMIT 1" 1,0
"$DWELL" record -a -o "$work/deaf.dwell" 2>/dev/null & pid=$!
until_begun "$work/deaf.dwell"
sleep 1
worker=$(helpers_of "$pid" ingest)
kill -STOP "$worker"
sleep 1.5
kill "$pid"
sleep 0.5
kill "$pid"
check "a second signal ends it at once, whatever the worker does" timeout 3 tail --pid "$pid" -f /dev/null
wait "$pid" 2>/dev/null
check "and the worker with it" timeout 3 tail --pid "$worker" -f /dev/null

# Many threads: what does not fit into the queue at once waits for it
timeout 60 "$DWELL" run -q -o "$work/threads.dwell" -- "$TOOLS/workloads/oracle" threads >/dev/null
check "2,001 threads are all there, and closed" is "$work/threads.dwell" \
	"SELECT count(*) || ',' || ($unclosed) FROM threads" 2001,0
check "none of their records was lost" is "$work/threads.dwell" "SELECT total(count) FROM losses" 0.0

for usage in "" "-a -p 1" "-d 0 -a" "-p x" "--tier C -a" "--label x -a" "--max-overhead 0 -a" \
	"-F 10001 -a" "--min-block 5 -a" "--seed 0 -a"; do
	# shellcheck disable=SC2086
	"$DWELL" record $usage 2>/dev/null
	check "record $usage: wrong usage" test $? -eq 64
done
finish
