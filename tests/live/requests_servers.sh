#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# -s requests against servers of several languages and models, whose clients count for themselves.
# timing: what requests take is compared with what their client waits
. tests/lib.sh
need_root
. tests/requests_lib.sh

sources=$(realpath tests/live/requests_servers)

# has PROGRAM...: all of them are installed
has() { for program; do command -v "$program" >/dev/null || return 1; done; }

# serve COMMAND...: starts it, and waits until something listens at $port
serve() {
	port=$((port + 1))
	"$@" "$port" >"$work/server" 2>&1 &
	pids+=($!)
	for _ in $(seq 100); do (: </dev/tcp/127.0.0.1/"$port") 2>/dev/null && return; sleep 0.1; done
}
served() { kill "${pids[-1]}" && wait "${pids[-1]}" 2>/dev/null; unset "pids[-1]"; }

# asked PATH CONNECTIONS REQUESTS [fresh|expect]: by a client that counts for itself: what it got, posted, sent, received, waited
asked() { read -r gets posts sent received waited < <(python3 "$sources/client.py" "$port" "$@"); }

# has_model NAME MODEL...: of each 100 requests, 98 are of one of these
has_model() {
	local name=$1 models
	shift
	models=$(IFS=+; echo "$*")
	check "$name: 98 % are of the model $models: $(all thread "port = $port") thread, $(all loop "port = $port") loop, $(
		all pool "port = $port") pool" eval \
		"[ $(all "$models" "port = $port") -ge $(($(all requests "port = $port") * 98 / 100)) ]"
}

# What holds whatever the server is.
holds() {
	check "$1: nobody was left without an answer, and none is an error" test \
		"$(all "errors + closed + reset + timed_out + open" "port = $port AND kind = 'request'")" -eq 0
	check "$1: each request is answered" test "$(all answered "port = $port AND kind = 'request'")" -eq \
		"$(all requests "port = $port AND kind = 'request'")"
	check "$1: each request has a model" test "$(all "thread + loop + pool" "port = $port")" -eq "$(all requests "port = $port")"
	budgets_close "$1"
	bytes_close "$1" "port = $port"
	no_secrets "$1"
}

# What the client of HTTP/1 says, and dwell.
agrees() {
	counts "$1, GET" "$(all requests "port = $port AND name = 'GET $2'")" "$gets"
	counts "$1, POST" "$(all requests "port = $port AND name = 'POST $2'")" "$posts"
	check "$1: no request has another name" test "$(all requests "port = $port")" -eq \
		"$(all requests "port = $port AND name IN ('GET $2', 'POST $2')")"
	check "$1: the bytes that its client sent: $sent" test "$(all received_bytes "port = $port")" -eq "$sent"
	check "$1: the bytes that its client received: $received" test "$(all sent_bytes "port = $port")" -eq "$received"
	check "$1: requests take $(all latency_ns "port = $port") ns, no longer than its client waits: $waited" test \
		"$(all latency_ns "port = $port")" -le "$waited"
	holds "$1"
}

# expects NAME: a body that is sent when the server says "100 Continue" is of the request before that
expects() {
	session=$work/$1_expect.dwell
	measure 60
	asked /items/4711 4 400 expect
	measured
	agrees "$1, 100 Continue" /items/:id
}

# http NAME MODEL... -- COMMAND...: its server, and 8 connections with 400 requests each
http() {
	local name=$1 models=()
	shift
	while [ "$1" != -- ]; do models+=("$1"); shift; done
	shift
	session=$work/$name.dwell
	serve "$@"
	measure 60
	asked /items/4711 8 3200
	measured
	agrees "$name" /items/:id
	has_model "$name" "${models[@]}"
}

run_python() {
	has python3 || { skip "python: counts of its client" "no python3"; return; }
	http threading thread -- python3 "$sources/server.py" threading
	session=$work/threading_fresh.dwell
	measure 60
	asked /items/4711 4 400 fresh
	measured
	agrees "threading, a connection for each" /items/:id
	served
	http pool thread -- python3 "$sources/server.py" pool
	served
	http dispatch pool -- python3 "$sources/server.py" dispatch
	served
}

# Timers: what its loop waits meanwhile is for none of them alone, and each of them waits for it.
run_node() {
	local polled
	has node || { skip "node: counts of its client" "no node"; return; }
	http node thread loop -- node "$sources/server.js"
	expects node
	session=$work/node_wait.dwell
	measure 60
	asked /wait 8 640
	measured
	served
	agrees "node, timers" /wait
	has_model "node, timers" loop
	check "node, timers: each request takes 19 ms and more" test \
		"$(all latency_ns "port = $port")" -ge $(((gets + posts) * 19000000))
	check "node, timers: and 90 % of what its client waits, $waited" is_within "$(all latency_ns "port = $port")" "$waited" 100
	# By each request's own 20 ms: on a busy host its loop waits for a CPU, too, before it polls and after it.
	polled=$(ask "SELECT sum(poll_ns * weight) FROM requests r JOIN endpoints e ON e.id = r.endpoint WHERE port = $port")
	check "node, timers: $polled ns of that are its loop's poll: half of the timers' and more" test \
		"$polled" -ge $(((gets + posts) * 10000000))
}

# Streams share a connection: turns are counted, and said to have no name; they are not the streams.
run_node_http2() {
	local streams
	has node || { skip "node, HTTP/2: its bytes" "no node"; return; }
	session=$work/h2.dwell
	serve node "$sources/h2.js" serve
	measure 60
	streams=$(node "$sources/h2.js" ask "$port" 2000)
	measured
	served
	check "HTTP/2: its client has $streams answers" test "$streams" -eq 2000
	check "HTTP/2: turns are not said to be streams: $(all requests "port = $port AND name = '(h2, unnamed)'")" test \
		"$(all requests "port = $port AND name = '(h2, unnamed)'")" -gt 0
	check "HTTP/2: nothing has another name" test "$(all requests "port = $port")" -eq \
		"$(all requests "port = $port AND name IN ('(h2, unnamed)', '(h2 control)', '(h2 set-up)')")"
	check "HTTP/2: it is said to be that" test "$(ask "SELECT DISTINCT protocol FROM endpoints WHERE port = $port")" = http2
	holds HTTP/2
}

run_java() {
	has java javac || { skip "java: counts of its client" "no JDK"; return; }
	javac -d "$work" "$sources/Pool.java"
	http java thread pool -- java -Dsun.net.httpserver.nodelay=true -cp "$work" Pool
	expects java
	served
}

run_go() {
	has go || { skip "go: counts of its client" "no Go"; return; }
	GOFLAGS=-mod=mod GOPROXY=off GOCACHE=$work/gocache go build -o "$work/server_go" "$sources/server.go"
	http go thread loop pool -- "$work/server_go"
	expects go
	session=$work/go_wait.dwell
	measure 60
	asked /wait 8 1600
	measured
	served
	agrees "go, timers" /wait
	check "go, timers: each request takes 1.9 ms and more" test \
		"$(all latency_ns "port = $port")" -ge $(((gets + posts) * 1900000))
}

maria() { mysql --no-defaults -h 127.0.0.1 -P "$port" -u root; }

# sysbench MODE: its own count of queries
run_sysbench() {
	sysbench oltp_read_only --db-driver=mysql --mysql-host=127.0.0.1 --mysql-port="$port" --mysql-user=root --mysql-db=test \
		--tables=1 --table-size=1000 --threads=4 --time=0 --events=300 --db-ps-mode="$1" "${2:-run}" |
		awk '$1 == "total:" { print $2 }'
}

of_statements() { all requests "port = $port AND name IN ($1)"; }

run_mariadb() {
	local count
	has mysqld mysql mysql_install_db sysbench || { skip "MariaDB: counts of sysbench" "no MariaDB, or no sysbench"; return; }
	mysql_install_db --no-defaults --datadir="$work/maria" --user=root --auth-root-authentication-method=normal \
		--skip-test-db >/dev/null 2>&1
	serve mysqld --no-defaults --datadir="$work/maria" --user=root --bind-address=127.0.0.1 \
		--socket="$work/maria.sock" --innodb-flush-log-at-trx-commit=0 --innodb-buffer-pool-size=32M --port
	echo "CREATE DATABASE test" | maria
	run_sysbench disable prepare
	session=$work/maria.dwell
	measure 60
	count=$(run_sysbench disable)
	echo "SELECT 'hunter2secret'" | maria >/dev/null
	measured
	counts MariaDB "$(of_statements "'BEGIN', 'COMMIT', 'SELECT sbtest1'")" "$count"
	check "MariaDB: beside them its clients only connect, ask once, and leave" test "$(all requests "port = $port")" -eq \
		$((count + 11))
	check "MariaDB: a log-in is not a request" test "$(of_statements "'(connect)'")" -eq 5
	holds MariaDB
	has_model MariaDB thread
	session=$work/maria_prepared.dwell
	measure 60
	count=$(run_sysbench auto)
	measured
	counts "MariaDB, prepared statements" "$(of_statements "'EXECUTE (prepared)'")" "$count"
	holds "MariaDB, prepared statements"
	has_model "MariaDB, prepared statements" thread
	served
}

run_python
run_node
run_node_http2
run_java
run_go
run_mariadb
finish
