#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `dwell doctor FILE` on made-up sessions: each check has a session that fails it, and one that does not.
. tests/lib.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# A session with nothing wrong in it: 20 windows of a second on 4 CPUs, ten functions, 400 samples on a CPU, 40 of each
# function, half of them in even windows.
python3 - "$dir/good.dwell" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("PRAGMA synchronous = OFF")
db.executescript(open("tests/sessions/schema.sql").read())
def insert(table, **values):
    db.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})", list(values.values()))
for key, value in dict(schema="dwell.session/1", cpus=4, freq=49, started_ns=10**9, ended_ns=21 * 10**9, steal_ns=0,
                       run_id="0123456789abcdef").items():
    insert("meta", key=key, value=str(value))
db.execute("INSERT OR REPLACE INTO states VALUES (99, 'unattributed', '')")
insert("modules", id=7, kind=3, path="/bin/a", build_id="ab")
for f in range(20):
    insert("frames", id=100 + f, module=7, address=f, name=f"function_{f}")
    insert("stacks", id=200 + f, parent=0, frame=100 + f, depth=1)
for w in range(20):
    insert("windows", id=w, begin_ns=(w + 1) * 10**9, end_ns=(w + 2) * 10**9)
    insert("overhead", window=w, bpf_ns=10**7 if w % 2 else None, user_cpu_ns=10**7)
    insert("ledger", window=w, thread=1, state=1, call=0, object=0, holder=0, waker=0, waker_kind=0, ns=10**9, count=1)
    for f in range(10):
        insert("samples", window=w, pid=1, process_start_ns=1, tid=1, thread_start_ns=1, kind=0, state=1, mode=0, stack=200 + f,
               stop=0, waker=0, waker_kind=0, waker_stack=0, count=2, weight_ns=2 * (10**7 - f * 10**5), ns=0, mismatches=0)
insert("hooks", hook="ledger_switch", attached=1, events=5, bpf_ns=1, misses=0, measured_ns=1, is_rare=0)
insert("hooks", hook="seldom", attached=1, events=0, bpf_ns=0, misses=0, measured_ns=1, is_rare=1)
insert("coverage", part="stacks", covered_ns=20 * 10**9, total_ns=20 * 10**9, thinned=1)
db.commit()
END

doctor() {
	"$DWELL" doctor --json "$1" >"$dir/out" 2>"$dir/err"
	status=$?
	[ "$status" -le 1 ] && [ -s "$dir/out" ]
}
follows_schema() { doctor "$1" && tests/schema.py docs/doctor-session.schema.json "$dir/out"; }
# judged VERDICT STATUS CHECK=LEVEL SQL: the session after the SQL is judged so; no other check is worse than ok
judged() {
	local status
	cp "$dir/good.dwell" "$dir/bad.dwell"
	sqlite3 "$dir/bad.dwell" "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; $4" >/dev/null || return 1
	doctor "$dir/bad.dwell" || { cat "$dir/err"; return 1; }
	[ "$status" -eq "$2" ] && jq -e --arg verdict "$1" --arg wrong "$3" '.verdict == $verdict and
		([.checks[] | select(.level != "ok") | "\(.name)=\(.level)"] == ($wrong | split(" "))) and
		([.checks[] | select(.level != "ok" and .remedy == null)] == [])' "$dir/out" ||
		{ jq -c '.verdict, (.checks[] | select(.level != "ok"))' "$dir/out"; return 1; }
}
limited() { judged fit_with_limits 0 "$@"; }
bad() { judged not_fit 1 "$@"; }
text_of() { jq -r --arg name "$1" '.checks[] | select(.name == $name).text' "$dir/out"; }

check "a session without a fault is fit" judged fit 0 "" "SELECT 1"
check "its run id is there" jq -e '.run_id == "0123456789abcdef"' "$dir/out"
check "its samples are counted: ±1.96 √(0.09 / 400) is 2.9 points" grep -qF "400 on a CPU: a share of 10 % is known to ±2.9 points" <(text_of samples)
check "its ten functions are the same in both halves" grep -qF "10 of the top 10 functions" <(text_of stability)
check "dwell's cost: (2 x 10 x 10 ms + 20 x 10 ms) of 80 s is 0.5 %" grep -qF "dwell took 0.5 % of the CPU time" <(text_of overhead)

check "a killed writer limits it" limited whole=note "DELETE FROM meta WHERE key = 'ended_ns'"
check "a process that was replaced, too" limited whole=note "INSERT INTO meta VALUES ('ingest_replaced', '2')"
check "without a window it is not fit" bad "whole=bad" "DELETE FROM windows"
check "losses in one window of 20 limit it" limited losses=note "INSERT INTO losses VALUES (3, 'ring_full', 12)"
check "and are counted" grep -qF "12 records or entries, records in up to 1 of 20 windows: ring_full" <(text_of losses)
check "losses in two of 20 are too many" bad losses=bad "INSERT INTO losses VALUES (3, 'ring_full', 1), (4, 'ring_full', 1)"
check "a full table in two of 20 is not" limited losses=note "INSERT INTO losses VALUES (3, 'object_no_place', 1), (4, 'object_no_place', 1)"
check "names that came too late are no losses" judged fit 0 "" "INSERT INTO losses VALUES (3, 'frames_unnamed', 12)"
check "2 % of unattributed time limits it" limited unattributed=note "INSERT INTO ledger (window, thread, state, ns) VALUES (1, 1, 99, 400000000)"
check "6 % is too much" bad unattributed=bad "INSERT INTO ledger (window, thread, state, ns) VALUES (1, 1, 99, 1300000000)"
check "without any time it is not fit" bad unattributed=bad "DELETE FROM ledger"
check "a silent hook limits it" limited hooks=note "UPDATE hooks SET events = 0 WHERE hook = 'ledger_switch'"
check "and is named" grep -qF "attached but silent: ledger_switch" <(text_of hooks)
check "one that is not attached, too" limited hooks=note "UPDATE hooks SET attached = 0, failure = 'No such file'  WHERE hook = 'ledger_switch'"
check "not if another does its work" judged fit 0 "" "UPDATE hooks SET attached = 0, failure = 'No such file' WHERE hook = 'seldom';
	INSERT INTO hooks (hook, fallback_of, attached, events, is_rare) VALUES ('instead', 'seldom', 1, 3, 0)"
check "a part that covers 60 % limits it" limited coverage=note "INSERT INTO coverage VALUES ('tier_b', 12000000000, 20000000000, 1)"
check "one that covers 40 % is too little" bad coverage=bad "INSERT INTO coverage VALUES ('tier_b', 8000000000, 20000000000, 1)"
check "thinned rates limit it" limited governor=note "UPDATE coverage SET thinned = 4; INSERT INTO steps VALUES (1, 'rates thinned', '')"
check "6 % of overhead limit it" limited overhead=note "UPDATE overhead SET user_cpu_ns = 230000000"
check "a cost that was never measured is not known" limited overhead=note "UPDATE overhead SET bpf_ns = NULL"
check "25 % is too much" bad overhead=bad "UPDATE overhead SET user_cpu_ns = 1000000000"
check "2 % of stolen time limit it" limited stolen_time=note "UPDATE meta SET value = '1600000000' WHERE key = 'steal_ns'"
check "20 % is too much" bad stolen_time=bad "UPDATE meta SET value = '16000000000' WHERE key = 'steal_ns'"
# The first stop that is not complete, by its number
incomplete=$(($(grep '^STOP(' abi/stops.def | grep -nE '^STOP\([A-Z_]+, "[^"]*", 0,' | head -n 1 | cut -d: -f1) - 1))
check "10 % of incomplete stacks limit it" limited stacks=note "UPDATE samples SET stop = $incomplete WHERE stack = 203"
check "60 % are too many" bad stacks=bad "UPDATE samples SET stop = $incomplete WHERE stack < 206"
check "a function without a name limits it" limited names=note "UPDATE frames SET name = NULL WHERE id = 103"
check "with six of ten it is too much" bad "names=bad" "UPDATE frames SET name = NULL WHERE id < 106"
check "80 samples are few" limited samples=note "DELETE FROM samples WHERE window > 3"
check "none at all: the ledger stays" limited samples=note "DELETE FROM samples; UPDATE meta SET value = '0' WHERE key = 'freq'"
# Three of ten functions are others in odd windows: seven are common.
check "7 of 10 functions in common limit it" limited stability=note "UPDATE samples SET stack = stack + 10 WHERE window % 2 AND stack < 203"
check "and are counted" grep -qF "7 of the top 10 functions" <(text_of stability)
check "nothing is wrong if the three that are common have nearly all of the time" judged fit 0 "" \
	"UPDATE samples SET weight_ns = 1000 WHERE stack >= 203; UPDATE samples SET stack = stack + 10 WHERE window % 2 AND stack >= 203"
check "and they are counted" grep -qF "3 of the top 10 functions are the same in even and odd windows, with 100 %" <(text_of stability)
check "4 of 10 are chance" bad stability=bad "UPDATE samples SET stack = stack + 10 WHERE window % 2 AND stack < 206"

check "the text has the verdict last" eval '"$DWELL" doctor "$dir/good.dwell" | tail -n 1 | grep -qF "good.dwell: fit to conclude from: 12 ok, 0 to note, 0 bad."'
check "-q prints nothing else" eval '[ "$("$DWELL" doctor -q "$dir/good.dwell" | wc -l)" -eq 1 ]'
for name in run server stacks signals causes; do
	make_session $name "$dir"
	check "any session has a verdict, and its JSON follows its schema: $name" follows_schema "$dir/$name.dwell"
done
check "everything wrong that can be is not fit" eval 'doctor "$dir/server.dwell"; jq -e ".verdict == \"not_fit\"" "$dir/out"'
refused() { "$DWELL" doctor "$@" >"$dir/out" 2>"$dir/err"; [ $? -eq 64 ]; }
check "--host is not of a session" refused --host "$dir/good.dwell"
check "one session at a time" refused "$dir/good.dwell" "$dir/run.dwell"
check "a file that is no session fails" eval '! "$DWELL" doctor Makefile 2>"$dir/err" && grep -qF "not a dwell session" "$dir/err"'
finish
