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
	check "$1: requests take $(latency_of_all $port) ns, no longer than its client waits: $waited" test \
		"$(latency_of_all $port)" -le "$waited"
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
	session=$work/threading_loop.dwell
	measure 60 --server-model loop
	asked /items/4711 8 800
	measured
	agrees "threading, --server-model loop" /items/:id
	has_model "threading, --server-model loop" loop
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
	session=$work/node_thread.dwell
	measure 60 --server-model thread
	asked /items/4711 8 800
	measured
	agrees "node, --server-model thread" /items/:id
	has_model "node, --server-model thread" thread
	session=$work/node_wait.dwell
	measure 60
	asked /wait 8 640
	measured
	served
	agrees "node, timers" /wait
	has_model "node, timers" loop
	check "node, timers: each request takes 19 ms and more" test \
		"$(all latency_ns "port = $port")" -ge $(((gets + posts) * 19000000))
	check "node, timers: and 90 % of what its client waits, $waited" is_within "$(latency_of_all $port)" "$waited" 100
	# By each request's own 20 ms: on a busy host its loop waits for a CPU, too, before it polls and after it.
	polled=$(ask "SELECT sum(poll_ns * weight) FROM requests r JOIN endpoints e ON e.id = r.endpoint WHERE port = $port")
	check "node, timers: $polled ns of that are its loop's poll: half of the timers' and more" test \
		"$polled" -ge $(((gets + posts) * 10000000))
}

of_port() { all "$1" "port = $port AND kind = 'request'"; }

# streams NAME COUNT: of HTTP/2, each a request of its own
streams() {
	counts "$1, streams" "$(of_port requests)" "$2"
	check "$1: each stream is answered, and nobody was left without an answer" test \
		"$(of_port answered)/$(of_port "closed + reset + timed_out + open")" = "$2/0"
	check "$1: each has a model" test "$(of_port "thread + loop + pool")" -eq "$2"
	check "$1: it is said to be HTTP/2" test "$(ask "SELECT DISTINCT protocol FROM endpoints WHERE port = $port")" = http2
	check "$1: frames were followed to the end" test "$(ask "SELECT coalesce(sum(count), 0) FROM losses WHERE cause LIKE 'h2%'")" -eq 0
	budgets_close "$1"
	bytes_close "$1" "port = $port"
	no_secrets "$1"
}

# kind NAME ENDPOINT COUNT: so many streams have this name
kind() { check "$1: $3 are $2" test "$(all requests "port = $port AND name = '$2'")" -eq "$3"; }

run_node_http2() {
	local service=/shop.v1.InventoryAndShippingService
	has node || { skip "node, HTTP/2: counts of its client" "no node"; return; }
	session=$work/h2.dwell
	serve node "$sources/h2.js" serve
	measure 60
	read -r item page fail rpc refused < <(node "$sources/h2.js" ask "$port" 2000)
	measured
	check "HTTP/2: its client has 400 answers of each kind: $item $page $fail $rpc $refused" test \
		"$item $page $fail $rpc $refused" = "400 400 400 400 400"
	streams HTTP/2 2000
	kind HTTP/2 "POST /items/:id" 400
	kind HTTP/2 "GET /pages/front" 400
	kind HTTP/2 "GET /fail" 400
	kind HTTP/2 "POST $service/AddItem2" 400
	kind HTTP/2 "POST $service/Refuse" 400
	check "HTTP/2: errors are those of /fail, and of gRPC" test "$(of_port errors)/$(
		all errors "name LIKE '%/fail' OR name LIKE '%Refuse'")" = 800/800
	check "HTTP/2: statuses are those of HTTP, and of gRPC" test "$(ask "SELECT group_concat(status, ',') FROM (SELECT DISTINCT status
		FROM requests r JOIN endpoints e ON e.id = r.endpoint WHERE port = $port ORDER BY status)")" = "200,503,grpc 0,grpc 7"

	# A connection that is older than the recording.
	session=$work/h2_late.dwell
	coproc node "$sources/h2.js" ask "$port" 2000 100
	read -r _ <&"${COPROC[0]}"
	measure 60
	echo >&"${COPROC[1]}"
	read -r item page fail rpc refused <&"${COPROC[0]}"
	measured
	check "HTTP/2 in mid-run: its client has 400 answers of each kind" test \
		"$item $page $fail $rpc $refused" = "400 400 400 400 400"
	streams "HTTP/2 in mid-run" 2000
	check "HTTP/2 in mid-run: no stream has a name that none was asked" test "$(of_port requests)" -eq "$(all requests "port = $port
		AND name IN ('(h2, unnamed)', 'POST /items/:id', 'GET /pages/front', 'GET /fail', 'POST $service/AddItem2', 'POST $service/Refuse')")"

	# One that is taken back, and one whose connection is destroyed.
	session=$work/h2_left.dwell
	measure 60
	node "$sources/h2.js" leave "$port"
	sleep 1.5
	measured
	served
	check "HTTP/2: two streams have no answer" test "$(of_port requests)/$(of_port "reset + closed")" = 2/2
	bytes_close "HTTP/2, streams without an answer" "port = $port"
}

# Frames and their headers in several messages; and what looks as HTTP/2 does, and then no longer.
run_odd_http2() {
	session=$work/h2_odd.dwell
	serve python3 "$sources/h2_odd.py" serve
	measure 60
	python3 "$sources/h2_odd.py" ask "$port" 50 10
	measured
	served
	check "HTTP/2 that is lost track of: 50 streams" test "$(all requests "port = $port AND name = 'GET /odd'")" -eq 50
	check "HTTP/2 that is lost track of: then turns, of which the first is lost" test \
		"$(all requests "port = $port AND name != 'GET /odd'")" -eq 9
	check "HTTP/2 that is lost track of: it is counted" test "$(ask "SELECT coalesce(sum(count), 0) FROM losses WHERE cause = 'h2_lost'")" -eq 1
	bytes_close "HTTP/2 that is lost track of" "port = $port"
	budgets_close "HTTP/2 that is lost track of"
}

# by_h2load NAME PATH CONNECTIONS STREAMS REQUESTS
by_h2load() {
	local answers
	session=$work/h2load_$1.dwell
	measure 60
	answers=$(h2load -c "$3" -m "$4" -n "$5" "http://127.0.0.1:$port$2" | sed -n 's/^requests:.* \([0-9]*\) succeeded.*/\1/p')
	measured
	check "nginx, $1: h2load has all answers: $answers" test "$answers" -eq "$5"
	streams "nginx, $1" "$answers"
	kind "nginx, $1" "GET $2" "$answers"
}

run_nginx_http2() {
	has nginx h2load || { skip "nginx, HTTP/2: counts of h2load" "no nginx, or no h2load"; return; }
	port=$((port + 1))
	mkdir "$work/html"
	head -c 200000 /dev/zero >"$work/html/large"
	echo small >"$work/html/small"
	cat >"$work/nginx.conf" <<-END
		user root; daemon off; worker_processes 2; pid $work/nginx.pid; error_log $work/nginx.log;
		events { worker_connections 512; }
		http {
			access_log off; tcp_nodelay on; keepalive_requests 1000000;
			client_body_temp_path $work/n1; proxy_temp_path $work/n2; fastcgi_temp_path $work/n3;
			uwsgi_temp_path $work/n4; scgi_temp_path $work/n5;
			server { listen 127.0.0.1:$port http2; root $work/html; location /large { sendfile on; } }
		}
	END
	nginx -c "$work/nginx.conf" 2>/dev/null &
	pids+=($!)
	for _ in $(seq 100); do (: </dev/tcp/127.0.0.1/"$port") 2>/dev/null && break; sleep 0.1; done
	by_h2load single /small 1 1 2000
	check "nginx, single: a stream alone has its thread's time: $(of_port thread) of 2000" test "$(of_port thread)" -ge 1960
	by_h2load many /small 8 100 20000
	by_h2load large /large 4 10 1000 # its body goes by sendfile()
	served
}

# A thread reads the next request while the one that has answered is still within its call.
run_late() {
	has cc || { skip "answers whose call returns late: counts" "no C compiler"; return; }
	[ "$(nproc)" -gt 1 ] || { skip "answers whose call returns late: counts" "one CPU: it cannot be late"; return; }
	cc -std=gnu11 -O2 -pthread -o "$work/late" "$sources/late.c"
	session=$work/late.dwell
	port=$((port + 1))
	measure 60
	asked=$("$work/late" "$port" 200000)
	measured
	check "answers whose call returns late: all $asked requests are counted" test "$(of_port requests)/$(of_port answered)" = \
		"$asked/$asked"
	check "answers whose call returns late: another thread has answered each" test "$(of_port pool)" -eq "$asked"
	budgets_close "answers whose call returns late"
	bytes_close "answers whose call returns late" "port = $port"
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

# Of Debian's golang-golang-x-net-dev.
GO_LIBRARIES=/usr/share/gocode

run_go_http2() {
	has go node && [ -d $GO_LIBRARIES/src/golang.org/x/net/http2/h2c ] ||
		{ skip "go, HTTP/2 and gRPC: counts of its client" "no Go, no node, or no golang.org/x/net"; return; }
	GO111MODULE=off GOPATH=$GO_LIBRARIES GOCACHE=$work/gocache go build -o "$work/server_h2" "$sources/server_h2.go"
	session=$work/go_h2.dwell
	serve "$work/server_h2"
	measure 60
	read -r item page fail rpc refused < <(node "$sources/h2.js" ask "$port" 2000)
	measured
	served
	check "go, gRPC: its client has 400 answers of each kind: $item $page $fail $rpc $refused" test \
		"$item $page $fail $rpc $refused" = "400 400 400 400 400"
	streams "go, gRPC" 2000
	kind "go, gRPC" "POST /items/:id" 400
	kind "go, gRPC" "POST /shop.v1.InventoryAndShippingService/AddItem2" 400
	check "go, gRPC: errors are those of /fail, and of gRPC" test "$(of_port errors)/$(
		all errors "name LIKE '%/fail' OR name LIKE '%Refuse'")" = 800/800
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
run_odd_http2
run_nginx_http2
run_late
run_java
run_go
run_go_http2
run_mariadb
finish
