#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# -s requests against a server that knows where the time of each request went: it sleeps, burns CPU, waits for a lock that
# a known thread holds, reads a cold file and asks PostgreSQL. Of each request each part is right within 5 % or 1 ms, the
# holder is named, the query is linked, and the longest wait is in the server's function that waits.
# timing: parts of budgets are compared with the server's own clock
. tests/lib.sh
need_root
. tests/requests_lib.sh

sources=$(realpath tests/live/requests_oracle)
database=$((port + 1))
CONNECTIONS=2 # as many requests at a time, and as many holders
stacks=()
ROUNDS=30     # some 3 requests of each endpoint in a second: all are kept
PATH=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1):$PATH

has() { for program; do command -v "$program" >/dev/null || return 1; done; }
has cc initdb postgres pg_isready || { skip "requests of a server that knows its time" "no C compiler, or no PostgreSQL"; exit 0; }

# Its log has the time of each statement, and the process that executed it.
start_database() {
	local as=(setpriv --reuid postgres --regid postgres --init-groups)
	chmod 755 "$work"
	mkdir "$work/database"
	chown postgres: "$work/database"
	(cd "$work/database" && "${as[@]}" initdb -D data -A trust -U postgres -N >/dev/null)
	(cd "$work/database" && exec "${as[@]}" postgres -D data -p "$database" -k "$work/database" -c listen_addresses=127.0.0.1 \
		-c log_min_duration_statement=0 -c log_line_prefix='%p ') >"$work/database.log" 2>&1 &
	pids+=($!)
	for _ in $(seq 100); do pg_isready -q -h 127.0.0.1 -p "$database" && return; sleep 0.1; done
}

# judge: what check.py says is the test's result
judge() {
	"$dwell" report --json --requests --slowest 1000 "$session" >"$work/report.json"
	python3 "$sources/check.py" "$session" "$work/report.json" "$port" "$work/server.log" "$work/client.log" \
		"$work/database.log" >"$work/judged" 2>"$work/why"
	check "the requests are judged to the end" eval "! cat '$work/why' | grep ."
	cat "$work/judged"
	failures=$((failures + $(grep -c '^not ok' "$work/judged")))
}

start_database
check "PostgreSQL answers" pg_isready -q -h 127.0.0.1 -p "$database"
check "the server is compiled" cc -std=c11 -O1 -fno-inline -pthread -o "$work/server" "$sources/server.c"
"$work/server" "$port" "$database" "$work/cold" $CONNECTIONS >"$work/server.log" & # it ends when its clients have gone
server=$!
pids+=("$server")
session=$work/oracle.dwell
measure 60
python3 "$sources/client.py" "$port" $CONNECTIONS $ROUNDS >"$work/client.log"
answered=$?
check "the client gets all answers" test $answered -eq 0
measured
[ $answered -eq 0 ] || kill "$server"
wait "$server"
check "the server has answered them" test $? -eq 0
unset "pids[-1]"
judge
holder=$(grep -om 1 '"holder":[0-9]*' "$work/server.log" | tr -dc 0-9)
"$dwell" report --requests --slowest 1000 "$session" >"$work/report"
check "the report has the holder" grep -q "held up by holder-[0-9]* ($holder)" "$work/report"
check "the report has the query below a request" grep -q "^ *calls postgres :$database SELECT pg_sleep(), status OK" "$work/report"
budgets_close oracle
bytes_close oracle "port = $port"
finish
