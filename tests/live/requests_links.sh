#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# -s requests: which request made which call, against servers that pass an id on to their upstream. dwell does not see the
# ids: the logs of client and upstream have them.
. tests/lib.sh
need_root
. tests/requests_lib.sh

sources=$(realpath tests/live/requests_links)
CONNECTIONS=64
PER_SECOND=160 # all requests of both servers get a record, and all are kept: 16 endpoints of some 10 in a window

# has PROGRAM...: all of them are installed
has() { for program; do command -v "$program" >/dev/null || return 1; done; }

# serve COMMAND...: starts it with two more arguments, the upstream's port and its own, and waits until it listens
serve() {
	port=$((port + 1))
	"$@" "$upstream" "$port" >"$work/server" 2>&1 &
	pids+=($!)
	until_listens
}
until_listens() { for _ in $(seq 100); do (: </dev/tcp/127.0.0.1/"$port") 2>/dev/null && return; sleep 0.1; done; }
served() { kill "${pids[-1]}" && wait "${pids[-1]}" 2>/dev/null; unset "pids[-1]"; }

# start_upstream: its port is in $upstream
start_upstream() {
	port=$((port + 1)) upstream=$port
	python3 "$sources/upstream.py" "$work/upstream.log" "$port" 3000 &
	pids+=($!)
	until_listens
}

# start_nginx VERSION CONNECTION KEEPALIVE
start_nginx() {
	port=$((port + 1))
	cat >"$work/nginx.conf" <<-END
		worker_processes 2; pid $work/nginx.pid; error_log $work/nginx.log; daemon off; user root;
		events { worker_connections 512; }
		http { access_log off; keepalive_requests 10000000;
			upstream up { server 127.0.0.1:$upstream; $3 }
			server { listen 127.0.0.1:$port;
				location / { proxy_pass http://up; proxy_http_version 1.1; proxy_set_header Connection $2; } } }
	END
	nginx -c "$work/nginx.conf" 2>/dev/null &
	pids+=($!)
	until_listens
}

# rig NAME CALLS MODE -- COMMAND...: the server COMMAND, which makes CALLS calls for each request, under MODE:
#   paced  PER_SECOND requests a second: all of them are kept
#   mid    the same, and all connections are older than the recording
#   full   as many as the server answers, and few endpoints: a sample has records, few are kept
rig() {
	local name=$1 per_request=$2 mode=$3 connections=$CONNECTIONS
	shift 4
	session=$work/links.dwell
	rm -f "$session" "$session-wal"
	start_upstream
	"$@"
	case $mode in
	paced) measure 60; start_client 1600 $PER_SECOND 16 ;;
	mid) start_client 1600 $PER_SECOND 16; sleep 2; measure 60 ;;
	full) measure 60; start_client 20000 0 4 ;;
	esac
	wait "${pids[-1]}"
	check "$name: the client gets all answers" test $? -eq 0
	unset "pids[-1]"
	measured
	served
	served # the upstream writes its log
	if ! python3 "$sources/check.py" "$session" "$port" "$upstream" "$per_request" "$work/client.log" "$work/upstream.log" \
		>"$work/found" 2>&1; then
		check "$name: its links can be judged" eval "tail -n 3 '$work/found'; false"
		return 1
	fi
	eval "$(grep -E '^[a-z_]+=[0-9]+$' "$work/found")"
	report_found
	never_wrong
}

# start_client REQUESTS PER_SECOND ENDPOINTS
start_client() {
	python3 "$sources/client.py" "$work/client.log" "$port" "$connections" "$@" &
	pids+=($!)
}

# What check.py finds is set by eval.
# shellcheck disable=SC2154
report_found() {
	grep -vE '^[a-z_]+=' "$work/found"
	echo "# $name: $asked requests, $kept kept; $calls calls: $calls_published published, $calls_confirmed confirmed, $calls_backward backward," \
		"$calls_forward forward, $unlinked not linked; wrong: $wrong_published published, $wrong_confirmed confirmed, $wrong_backward backward," \
		"$wrong_forward forward; $children requests of the upstream have a parent"
	echo "# $name: of all calls of the server: $judged_confirmed confirmed, $judged_backward backward," \
		"$judged_conflict conflicts, $judged_forward forward, $judged_refused refused, $judged_unlinked unlinked"
}

# shellcheck disable=SC2154
never_wrong() {
	check "$name: requests are kept, and the client knows each: $kept" test "$kept" -gt 0 -a "$strays" -eq 0
	check "$name: each has its number on its connection" test "$turns_off" -eq 0 -a \( "$mode" = mid -o "$late" -eq 0 \)
	check "$name: no confirmed link is wrong: $calls_confirmed" test "$wrong_confirmed" -eq 0
	check "$name: no accepted link is wrong: $accepted" test "$wrong" -eq 0
	check "$name: each call is one that the upstream got, once, and lies within its request" test \
		"$unknown" -eq 0 -a "$twice" -eq 0 -a "$outside" -eq 0
	check "$name: each call has the upstream's bytes and status" test "$bytes_off" -eq 0 -a "$unlike" -eq 0
	check "$name: no request of the upstream has a wrong parent: $children" test "$wrong_parents" -eq 0
	budgets_close "$name"
}

# linked: of the calls of kept requests, 95 % by the witness of the answer, alone or with the other one
# shellcheck disable=SC2154
linked() {
	local linked=$((calls_confirmed + calls_backward))
	check "$name: 95 % of $calls calls are linked, confirmed or backward: $linked" test $((linked * 100)) -ge $((calls * 95))
	[ "$1" = full ] ||
		check "$name: 95 % of $linked linked calls have their request of the upstream: $children" test \
			$((children * 100)) -ge $((linked * 95))
}

# followed: what the pool's threads did for a request is known, of three in four
followed() {
	local all off
	all=$(ask "SELECT count(*) FROM requests WHERE model = 'pool'")
	off=$(ask "SELECT count(*) FROM requests WHERE model = 'pool' AND handed_over_ns > 0")
	check "$name: of $all requests the pool's work is followed, but of $off" test "$all" -gt 0 -a $((off * 4)) -le "$all"
}

# LONG=1 (make check-long): all servers, in all modes. CI has time for some.
ALL_MODES="paced mid full"
modes_of() {
	case $1 in
	"nginx, keep-alive" | "java, a pool") echo "${LONG:+mid }paced full" ;;
	"python, a thread"* | "python, asyncio" | "node, timers") echo "${LONG:+$ALL_MODES}" ;;
	*) [ -n "${LONG:-}" ] && echo "$ALL_MODES" || echo paced ;;
	esac
}

# each NAME CALLS COMMAND...: in each mode, where 95 % of the calls are to be linked
each() {
	local name=$1 per_request=$2 mode
	shift 2
	for mode in $(modes_of "$name"); do
		rig "$name, $mode" "$per_request" $mode -- "$@" || continue
		name="$name, $mode" linked $mode
		# Threads of Python wake each other for their one lock, too: under load the share differs from run to run.
		[[ $name != *"a pool" || "$name, $mode" = "python, a pool, full" ]] || name="$name, $mode" followed
	done
}

# never NAME CALLS COMMAND...: in each mode, where links may be missing, and none may be wrong
never() {
	local name=$1 per_request=$2 mode
	shift 2
	for mode in $(modes_of "$name"); do rig "$name, $mode" "$per_request" $mode -- "$@"; done
}

run_nginx() {
	has nginx || { skip "nginx: links" "no nginx"; return; }
	each "nginx, keep-alive" 1 start_nginx 1.1 '""' "keepalive 64;"
	each "nginx, a connection for each call" 1 start_nginx 1.1 close ""
}

run_python() {
	each "python, a thread for each connection" 2 serve python3 "$sources/server.py" thread
	each "python, a pool" 1 serve python3 "$sources/server.py" pool
	never "python, asyncio" 2 serve python3 "$sources/server.py" loop
}

# Timers lose both witnesses: what is not linked is right, too.
run_node() {
	has node || { skip "node: links" "no node"; return; }
	each "node, two calls in sequence" 2 serve node "$sources/server.js" sequential
	never "node, three calls at once" 3 serve node "$sources/server.js" fanout
	never "node, timers" 1 serve node "$sources/server.js" timers
	[ -z "${LONG:-}" ] || never "node, few connections" 2 serve node "$sources/server.js" few
	[ -z "${LONG:-}" ] || never "node, calls for no request" 2 serve node "$sources/server.js" ticks
}

run_java() {
	has java javac || { skip "java: links" "no JDK"; return; }
	javac -d "$work" "$sources/Pool.java"
	CONNECTIONS=32 each "java, a pool" 1 serve java -cp "$work" Pool sockets
	[ -z "${LONG:-}" ] || CONNECTIONS=32 never "java, HttpClient" 1 serve java -cp "$work" Pool client
}

# published: by the application's own word all calls are linked; in the first second dwell looks for its variable
# shellcheck disable=SC2154
published() {
	local left
	left=$(ask "SELECT count(*) FROM requests r JOIN endpoints e ON e.id = r.endpoint WHERE port = $port AND kind = 'request'
		AND outcome = 'answered' AND weight > 0 AND r.begin_ns > (SELECT min(begin_ns) + 1000000000 FROM requests) AND 2 <>
		(SELECT count(*) FROM request_calls c WHERE c.request = r.id AND grade = 'published')")
	check "$name: after the first second all of $calls calls are linked by what is published: $calls_published" test \
		"$calls_published" -gt 0 -a $((calls_published * 10)) -ge $((calls * 8)) -a "$left" -eq 0
	echo "# $name: the witnesses would have linked $judged_checked of these, $judged_wrong of them wrongly"
}

# A server that mixes its requests says itself for which one a thread works: OTEP 4947.
run_publisher() {
	local library found=$BUILD/tests/publisher
	[ -x "$found/executable" ] || { skip "published contexts: links" "no publisher is built"; return; }
	rig "publisher, in the executable" 2 paced -- serve "$found/executable" && name="publisher, in the executable" published
	for library in large_descriptor ${LONG:+slot descriptor module}; do
		rig "publisher, $library" 2 paced -- serve_loaded "$found/loads" "$found/$library.so" &&
			name="publisher, $library" published
	done
}
# serve_loaded PROGRAM LIBRARY: as serve, with the library as the last argument
serve_loaded() {
	port=$((port + 1))
	"$1" "$upstream" "$port" "$2" >"$work/server" 2>&1 &
	pids+=($!)
	until_listens
}

for part in ${PARTS:-publisher nginx python node java}; do "run_$part"; done
finish
