#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `dwell diff` on sessions whose difference is known: verdicts, sizes, units of work, fairness, exit statuses; JSON
# against its schema.
. tests/lib.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

make() { tests/sessions/compare.py "$dir/$1.dwell" "${@:2}"; }
says() {
	exits "$1" "${@:3}" || return
	grep -qF -- "$2" "$dir/out" "$dir/err" || { cat "$dir/out" "$dir/err"; return 1; }
}
# diff_json A B [OPTION]...: JSON of two sessions, which has to follow its schema
diff_json() {
	exits 0 "$DWELL" diff --json "${@:3}" "$dir/$1" "$dir/$2" && tests/schema.py docs/diff.schema.json "$dir/out"
}
# line TABLE NAME MEASURE FILTER: the line of the JSON that was last printed
line() { jq -e "[.lines[] | select(.table == \"$1\" and .name == \"$2\" and .measure == \"$3\")][0] | $4" "$dir/out"; }
# changed_by TABLE NAME MEASURE SHARE: by this share, within a fifth of it
changed_by() { line "$1" "$2" "$3" ".verdict == \"changed\" and (.relative / $4 - 1 | fabs) < 0.2"; }
none_changed() { jq -e '.summary.changed == 0' "$dir/out"; }

make a seed=1
make same seed=2
make slower seed=3 cpu=1.1 render=1.2
make lock seed=4 lock=1.5
make lookups seed=5 calls=4
make latency seed=6 latency=1.3
make short seconds=4 seed=7
make drifting seed=8 drift=0.4
make later seed=9 seconds=60 cpu=1.3 from=30

check "JSON follows its schema" diff_json a.dwell same.dwell
check "the same load is unchanged: no line changed" none_changed
check "and the largest line is unchanged, within 5 %" line process cpu.user time '.verdict == "unchanged" and .bound / .a < 0.053'
check "and every line has its minimum detectable effect and interval" jq -e \
	'[.lines[] | .low <= .effect and .effect <= .high and has("mde")] | all' "$dir/out"
check "text says so" says 0 "No line changed" "$DWELL" diff "$dir/a.dwell" "$dir/same.dwell"

check "10 % more CPU time: JSON follows its schema" diff_json a.dwell slower.dwell
check "is found, and sized within 20 %" changed_by process cpu.user time 0.1
check "so is the function that is 20 % slower" changed_by function render self 0.2
check "and the other function is not called changed" line function parse self '.verdict != "changed"'
check "nor are locks" line process blocked.lock time '.verdict != "changed"'
check "the verdict names both" jq -e '(.verdict[0] | startswith("cpu.user of server (web.service) rose from")) and
	(.verdict[1] | startswith("Self CPU time of render (server) rose from"))' "$dir/out"
check "text fits into 80 columns" sh -c "test \$(COLUMNS=80 '$DWELL' diff '$dir/a.dwell' '$dir/slower.dwell' | LC_ALL=C.UTF-8 wc -L) -le 80"
check "threads have both parts of their line" line thread server time '.wait[0] - .cpu[0] - .a | fabs < 1'
check "lock: JSON follows its schema" diff_json a.dwell lock.dwell
check "waits for a lock are found, ranked first, and sized" sh -c "jq -e '.verdict[0] | startswith(\"blocked.lock of server\")' '$dir/out'"
check "within 20 %" changed_by process blocked.lock time 0.5

check "per unit of work: JSON follows its schema" diff_json a.dwell lookups.dwell --per syscalls:accept4
check "one more call per request is one more" line syscall newfstatat count \
	'.verdict == "changed" and (.a - 3 | fabs) < 1e-6 and (.b - 4 | fabs) < 1e-6'
check "and the sentence has it" jq -e '.verdict[0] | startswith("Calls of newfstatat of server (web.service) rose from 3.00 to 4.00 per syscalls:accept4")' "$dir/out"
# sleeps FILE COUNT: and so many calls of clock_nanosleep a second, of 10 ms each
sleeps() {
	cp "$dir/$1.dwell" "$dir/$1-sleeps.dwell"
	sqlite3 "$dir/$1-sleeps.dwell" "INSERT OR IGNORE INTO syscalls (call, name) VALUES (230, 'clock_nanosleep');
		INSERT INTO calls (window, thread_tid, thread_start_ns, thread_begin_ns, call, count, failed, cpu_ns, total_ns)
		SELECT window, thread_tid, thread_start_ns, thread_begin_ns, 230, $2, 0, 0, $2 * 10000000 FROM calls WHERE call = 289"
}
sleeps a 10
sleeps lookups 15
check "pauses that are made more often: JSON follows its schema" diff_json a-sleeps.dwell lookups-sleeps.dwell --per syscalls:accept4
check "are changed" line syscall clock_nanosleep count '.verdict == "changed" and .cost_ns == 0'
check "but cost nothing: the sentence is the same" jq -e '.verdict[0] | startswith("Calls of newfstatat of server")' "$dir/out"
check "per CPU time" diff_json a.dwell same.dwell --per cpu
check "is per CPU time" jq -e '.per == "CPU s"' "$dir/out"
check "per a signal's count" diff_json a.dwell same.dwell --per files:read
# Twice the load: twice the CPU time and the locks, as much of them per request
make calm seed=11 requests=100
make busy seed=12 requests=200 cpu=2 lock=2
make worse seed=13 requests=100 answer=1.3 errors=20
check "per request: JSON follows its schema" diff_json calm.dwell busy.dwell --per requests
check "is per request" jq -e '.per == "request" and (.method.wall_ns_per_work - 20 / 3 * 1e6 | fabs) < 1e3' "$dir/out"
check "twice the load is as much CPU time per request" line process cpu.user time '.verdict == "unchanged" and (.a - 3e6 | fabs) < 1e5'
check "and as much waiting for locks" line process blocked.lock time '.verdict == "unchanged"'
check "as without is seen by wall time" diff_json calm.dwell busy.dwell
check "which has twice of both" changed_by process cpu.user time 1
check "and twice the requests" changed_by request ":8080 GET /cart/:id" count 0.94
check "which are load, and no verdict" jq -e '[.verdict[] | test("equests of") | not] | all' "$dir/out"
check "per request of one server" diff_json calm.dwell busy.dwell --per requests:server
check "is the same" line process cpu.user time '.verdict == "unchanged" and (.a - 3e6 | fabs) < 1e5'
check "slower requests: JSON follows its schema" diff_json calm.dwell worse.dwell --per requests
check "the mean is found" changed_by request ":8080 GET /cart/:id" mean 0.3
check "and the median, and percentiles" sh -c "jq -e '[.lines[] | select(.table == \"request\" and (.measure | startswith(\"p\")) and .verdict == \"changed\")] | length == 3' '$dir/out'"
check "and errors" line request ":8080 GET /cart/:id: errors" count '.verdict == "changed" and .a == 0 and (.b - 0.2 | fabs) < 1e-6'
check "of the endpoint" jq -e '[.lines[].label | select(. == "errors of :8080 GET /cart/:id of server (web.service)")] | length == 1' "$dir/out"
check "set-up is no request" jq -e '[.lines[] | select(.table == "request") | .name | test("CONNECT") | not] | length > 0 and all' "$dir/out"
check "as many requests are unchanged" line request ":8080 GET /cart/:id" count '.verdict == "unchanged" and (.b - 1.03 | fabs) < 1e-6'
check "text has them" says 0 "REQUESTS  by endpoint" "$DWELL" diff --per requests "$dir/calm.dwell" "$dir/worse.dwell"
check "and the verdict" says 0 "Mean of :8080 GET /cart/:id of server (web.service) rose from 5.00 ms" "$DWELL" diff "$dir/calm.dwell" "$dir/worse.dwell"
check "more load is no failure" exits 0 "$DWELL" diff --per requests --fail-over 1% "$dir/calm.dwell" "$dir/busy.dwell"
check "without requests it says what to do" says 1 "has no answered requests of these. Record with -s requests" "$DWELL" diff --per requests "$dir/a.dwell" "$dir/same.dwell"
check "what a session does not count is an error" says 1 "has none" "$DWELL" diff --per tcp:connect "$dir/a.dwell" "$dir/same.dwell"
check "a wrong --per is wrong usage" says 64 "--per is wall, cpu, requests, requests:SERVER or SIGNAL:WHAT" "$DWELL" diff --per hours "$dir/a.dwell" "$dir/same.dwell"

check "latencies: JSON follows its schema" diff_json a.dwell latency.dwell
check "the mean is found" changed_by latency "latency read" mean 0.3
check "and the median" changed_by latency "latency read" p50 0.3

check "four windows are too few" diff_json a.dwell short.dwell
check "and nothing is called changed" none_changed
check "nor detectable" jq -e '[.lines[] | .mde == null] | all' "$dir/out"
check "a line that drifts within a run" diff_json a.dwell drifting.dwell
check "is inconclusive, though its mean is 20 % higher" line process cpu.user time '.verdict == "inconclusive" and .relative > 0.1'

# Parts of one file, and which line rose first
check "parts of one file" diff_json later.dwell@0-20s later.dwell@35s-60s
check "show the change" changed_by process cpu.user time 0.3
check "and not what did not change" line process blocked.lock time '.verdict != "changed"'
check "neighbouring parts have an order of onset" says 0 "ORDER OF ONSET" "$DWELL" diff "$dir/later.dwell@0-28s" "$dir/later.dwell@28s-60s"
check "in the right window" grep -qE '^ +30\.0 s  cpu.user of ' "$dir/out"

# Several runs a side
for i in 1 2 3; do make "x$i" seed=$((20 + i)); make "y$i" seed=$((30 + i)) cpu=1.1; done
check "three runs a side" says 0 "in 3 runs" "$DWELL" diff "$dir"/x?.dwell -- "$dir"/y?.dwell
check "show the change" grep -q "cpu.user of server (web.service) rose" "$dir/out"
for i in $(seq 10); do make "p$i" seed=$((100 + i)) seconds=10; make "q$i" seed=$((200 + i)) seconds=10 cpu=1.03; done
check "ten runs a side: JSON follows its schema" sh -c "'$DWELL' diff --json '$dir'/p*.dwell -- '$dir'/q*.dwell >'$dir/out' && tests/schema.py docs/diff.schema.json '$dir/out'"
check "runs are what is exchanged" jq -e '.method.whole_runs and .method.bound == 0.005' "$dir/out"
check "and 3 % are found and sized" changed_by process cpu.user time 0.03

# Fairness
make freq seed=2 freq=49
make tier seed=2 tier=A
make kernel seed=2 kernel=6.19.0
make build seed=2 build=bb
make lossy seed=2
sqlite3 "$dir/lossy.dwell" "INSERT INTO losses VALUES (3, 'ring_full', 4711)"
check "another sampling rate is refused" says 1 "sampling rate (Hz) differs" "$DWELL" diff "$dir/a.dwell" "$dir/freq.dwell"
check "without output" sh -c "! test -s '$dir/out'"
check "--force compares" says 0 "! sampling rate (Hz) differs" "$DWELL" diff --force "$dir/a.dwell" "$dir/freq.dwell"
check "another tier is refused" says 1 "tier (--tier) differs" "$DWELL" diff "$dir/a.dwell" "$dir/tier.dwell"
check "another kernel is a warning" says 0 "! kernel differs: " "$DWELL" diff "$dir/a.dwell" "$dir/kernel.dwell"
check "another build is named" says 0 "! /usr/bin/server is another build in" "$DWELL" diff "$dir/a.dwell" "$dir/build.dwell"
check "losses are told" says 0 "lost 4711 events" "$DWELL" diff "$dir/a.dwell" "$dir/lossy.dwell"
check "durations that are far apart too" says 0 "! durations differ" "$DWELL" diff "$dir/a.dwell" "$dir/short.dwell"

# told TEXT [OPTION]... A B: it is a warning
told() { "$DWELL" diff --json "${@:2}" | jq -e --arg text "$1" '[.warnings[].text] | index($text) != null'; }
# CPUs that others use: made up as CPU time of threads that were not measured
others() { sqlite3 "$dir/$1.dwell" "DELETE FROM cpus; INSERT INTO cpus SELECT id, 0, 1, 1000000000 - $2 FROM windows; INSERT INTO cpus SELECT id, 0, 3, $2 FROM windows"; }
cp "$dir/a.dwell" "$dir/quiet.dwell"
cp "$dir/slower.dwell" "$dir/disturbed.dwell"
others quiet 100000000
others disturbed 200000000
check "another load of other processes is told" says 0 "! processes that were not measured used 10 % of the CPUs in A, 20 %" "$DWELL" diff "$dir/quiet.dwell" "$dir/disturbed.dwell"
check "and no time is called changed" grep -q "No line changed" "$dir/out"
check "but with --force" says 0 "cpu.user of server (web.service) rose" "$DWELL" diff --force "$dir/quiet.dwell" "$dir/disturbed.dwell"
others disturbed 110000000
check "nor without, if it differs by little" says 0 "cpu.user of server (web.service) rose" "$DWELL" diff "$dir/quiet.dwell" "$dir/disturbed.dwell"

# CPUs that the hypervisor took: 30 s of which 10 % are busy
others disturbed 100000000
stolen() { sqlite3 "$dir/disturbed.dwell" "INSERT OR REPLACE INTO meta VALUES ('steal_ns', $1)"; }
stolen 120000000
check "time of busy CPUs that the hypervisor took is told" told "during $dir/disturbed.dwell CPUs were busy for 3 s, and the hypervisor took 0.12 s: times are inconclusive unless --force is given" "$dir/quiet.dwell" "$dir/disturbed.dwell"
check "and no time is called changed" says 0 "No line changed" "$DWELL" diff "$dir/quiet.dwell" "$dir/disturbed.dwell"
stolen 60000000
check "2 % are not" says 0 "cpu.user of server (web.service) rose" "$DWELL" diff "$dir/quiet.dwell" "$dir/disturbed.dwell"

# CPUs that were slower in B. cpu.user rises by 11 %, its interval begins at 9.6 %: beyond the 5 % of the allowance, and the 3 %
# that CPUs explain which are 1.5 % slower.
speed() { sqlite3 "$dir/$1.dwell" "DELETE FROM speed; INSERT INTO speed SELECT id, $2 FROM windows"; }
verdict_of_cpu() { "$DWELL" diff --json "$@" | jq -r '[.lines[] | select(.table == "process" and .name == "cpu.user")][0] | "\(.verdict): \(.reason)"'; }
is_verdict() { [ "$(verdict_of_cpu "${@:2}")" = "$1" ]; }
speed quiet 10000
speed disturbed 10400
check "slower CPUs are told" told "the CPUs were 4.0 % slower in B (95 % interval +4.0 % to +4.0 %): a loop that always does the same took 10.00 us in A, 10.40 us in B; a time is called changed if it rose by more than 13 %, or fell by more than 5 %" "$dir/quiet.dwell" "$dir/disturbed.dwell"
check "what they can explain is inconclusive" is_verdict "inconclusive: the speed of the CPUs can explain it" "$dir/quiet.dwell" "$dir/disturbed.dwell"
check "but with --force" is_verdict "changed: test" --force "$dir/quiet.dwell" "$dir/disturbed.dwell"
check "a function that rose by more than that is changed" says 0 "Self CPU time of render (server) rose" "$DWELL" diff "$dir/quiet.dwell" "$dir/disturbed.dwell"
speed disturbed 10150
check "what they cannot explain is changed" is_verdict "changed: test" "$dir/quiet.dwell" "$dir/disturbed.dwell"
speed disturbed 9200
check "so is a rise on faster CPUs" is_verdict "changed: test" "$dir/quiet.dwell" "$dir/disturbed.dwell"
cp "$dir/same.dwell" "$dir/hidden.dwell"
speed hidden 9500
check "on faster CPUs, what took the same may be slower" is_verdict "inconclusive: the speed of the CPUs can explain it" "$dir/quiet.dwell" "$dir/hidden.dwell"
speed hidden 9950
check "1 % is within the allowance" is_verdict "unchanged: test" "$dir/quiet.dwell" "$dir/hidden.dwell"

# The same speed in both, if it is the same: it went up and down
for file in quiet hidden; do
	sqlite3 "$dir/$file.dwell" "DELETE FROM speed; INSERT INTO speed SELECT id, 10000 + 2000 * (id * id % 3 = 1) FROM windows"
done
check "a speed that is known badly is told" sh -c "'$DWELL' diff --json '$dir/quiet.dwell' '$dir/hidden.dwell' |
	jq -e '.method.slower_low < -0.02 and .method.slower_high > 0.02 and ([.warnings[].text | test(\"the CPUs were\")] | any)'"
check "then no time on a CPU is unchanged, as that may be the speed" is_verdict "inconclusive: the speed of the CPUs can explain it" "$dir/quiet.dwell" "$dir/hidden.dwell"
check "a wait is" sh -c "'$DWELL' diff --json '$dir/quiet.dwell' '$dir/hidden.dwell' | jq -e '[.lines[] | select(.table == \"process\" and .name == \"blocked.lock\")][0].verdict == \"unchanged\"'"

# Some of the processes, and other groups: a second process with a fifth of the CPU time, and 30 % more of it in B
helper() {
	cp "$dir/$1.dwell" "$dir/$2.dwell"
	sqlite3 "$dir/$2.dwell" "INSERT INTO processes (pid, start_ns, parent, comm, exe, service, is_kernel, uid) VALUES (200, 7, 1, 'helper', '/usr/bin/helper', 'db.service', 0, 33);
		INSERT INTO threads (id, pid, process_start_ns, tid, start_ns, begin_ns, end_ns, comm, is_kernel, is_dead, threads, account_ns) SELECT 3, 200, 7, 200, 7, begin_ns, end_ns, 'helper', 0, 0, 1, account_ns FROM threads WHERE id = 1;
		INSERT INTO ledger (window, thread, state, call, object, holder, waker, waker_kind, ns, count, end_ns) SELECT window, 3, state, call, object, holder, waker, waker_kind, CASE state WHEN 2 THEN ns * $3 ELSE ns END, count, end_ns FROM ledger WHERE thread = 1 AND state IN (2, 14)"
}
helper a with 0.2
helper same with-more 0.26
check "of one process: JSON follows its schema" diff_json with.dwell with-more.dwell --comm helper
check "it says of which" jq -e '.filter == "comm helper" and .group_by == "service"' "$dir/out"
check "has no line of another" jq -e '[.lines[] | .process == null or .process == "helper"] | all' "$dir/out"
check "all of them together are that one" jq -e '[.lines[] | select(.table == "ledger" and .name == "cpu.user")][0].a as $a |
	[.lines[] | select(.table == "process" and .name == "cpu.user")][0].a == $a and $a > 50e6 and $a < 70e6' "$dir/out"
check "and finds its change" changed_by process cpu.user time 0.3
check "text says of which" says 0 "of comm helper" "$DWELL" diff --comm helper "$dir/with.dwell" "$dir/with-more.dwell"
check "another one has not changed" says 0 "No line changed" "$DWELL" diff --comm server "$dir/with.dwell" "$dir/with-more.dwell"
check "one that is not there is an error" says 1 "no process of the session has --comm halper; there is helper" "$DWELL" diff --comm halper "$dir/with.dwell" "$dir/with-more.dwell"
check "by user" diff_json with.dwell with-more.dwell --group-by user
check "is by user" jq -e '.group_by == "user" and ([.lines[] | select(.table == "service") | .service] | index("uid 33") != null)' "$dir/out"
check "text says so" says 0 "states by user" "$DWELL" diff --group-by user "$dir/with.dwell" "$dir/with-more.dwell"
check "what is no group is wrong usage" says 64 "--group-by is comm, exe" "$DWELL" diff --group-by pid "$dir/with.dwell" "$dir/with-more.dwell"

# Exit statuses
check "--fail-over: 3 if a changed line got worse by more" says 3 "got worse by more than 5 %" "$DWELL" diff --fail-over 5% "$dir/a.dwell" "$dir/slower.dwell"
check "0 if by less" exits 0 "$DWELL" diff --fail-over 50 "$dir/a.dwell" "$dir/slower.dwell"
check "0 if it got better" exits 0 "$DWELL" diff --fail-over 1% "$dir/lock.dwell" "$dir/a.dwell"
check "0 if nothing changed" exits 0 "$DWELL" diff --fail-over 0 "$dir/a.dwell" "$dir/same.dwell"
check "a wrong --fail-over is wrong usage" says 64 "--fail-over takes a share" "$DWELL" diff --fail-over much "$dir/a.dwell" "$dir/same.dwell"
check "one session is wrong usage" says 64 "diff takes two sessions" "$DWELL" diff "$dir/a.dwell"
check "so is a side without any" says 64 "both sides of --" "$DWELL" diff "$dir/a.dwell" --
mapfile -t many < <(yes "$dir/a.dwell" | head -64)
check "so are more than 64" says 64 "up to 64 sessions" "$DWELL" diff "${many[@]}" -- "$dir/a.dwell"
check "so is a part that is none" says 64 "as a part of a session" "$DWELL" diff "$dir/a.dwell@x" "$dir/same.dwell"
check "a part without windows is an error" says 1 "no window of the session" "$DWELL" diff "$dir/a.dwell@500s-" "$dir/same.dwell"
check "a file that is not there is an error" says 1 "cannot read" "$DWELL" diff "$dir/a.dwell" "$dir/nowhere.dwell"
echo "not a session" >"$dir/text.dwell"
check "so is one that is no session" says 1 "not a dwell session" "$DWELL" diff "$dir/a.dwell" "$dir/text.dwell"
# More lines than are compared: the largest are, and the rest is told. A thread that moves last, and most, is not missed.
python3 tests/generate_session.py --seconds 20 --threads 21000 --stacks 200 --active 500 "$dir/many.dwell"
sqlite3 "$dir/many.dwell" "UPDATE threads SET comm = 't' || id;
	UPDATE ledger SET ns = 19000000000, state = (SELECT id FROM states WHERE name = 'blocked.lock')
	WHERE rowid = (SELECT max(rowid) FROM ledger); DELETE FROM meta WHERE key = 'sums.ledger_sums'"
largest=$(sqlite3 "$dir/many.dwell" "SELECT 't' || thread FROM ledger ORDER BY rowid DESC LIMIT 1")
check "more lines than are compared are told" says 0 "of threads the 4000 largest lines are compared; the other 17" \
	"$DWELL" diff --force --json "$dir/many.dwell" "$dir/many.dwell"
check "and the largest is compared, wherever it is in the file" line thread "$largest" time '.wait[0] > 0'
finish
