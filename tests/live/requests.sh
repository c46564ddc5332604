#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# -s requests against servers whose clients count for themselves, and against a program that knows where its time went.
# timing: parts of budgets are compared with the program's own clock
. tests/lib.sh
need_root
. tests/requests_lib.sh

oracle=$(realpath "$TOOLS/workloads/oracle")

# is_part SEEN TRUTH COUNT: within 5 %, or 1 ms for each
is_part() {
	awk -v seen="$1" -v truth="$2" -v count="$3" 'BEGIN {
		off = seen > truth ? seen - truth : truth - seen
		exit !(off <= truth * 0.05 || off <= count * 1000000)
	}'
}

truth() { awk -v what="$1" -v path="$2" '$1 == what && $2 == path { printf "%.0f", $3 }' "$work/truth"; }

# its_part PATH COLUMN: of all of its requests, by the weights of those that were kept
its_part() { ask "SELECT coalesce(sum($2 * weight), 0) FROM requests r JOIN endpoints e ON e.id = r.endpoint WHERE name = 'GET $1'"; }

run_oracle() {
	local path where count seen
	session=$work/oracle.dwell
	"$dwell" run -q --no-stacks --max-overhead 100% -s requests -o "$session" -- "$oracle" requests >"$work/truth"
	check "oracle: the command's status passes through" test $? -eq 0
	for path in /sleep/:id /burn /lock/:id /ping; do
		where="name = 'GET $path'" count=$(truth asked $path)
		check "oracle: $path is asked $count times" test "$(all requests "$where")" -eq "$count"
		check "oracle: each $path is answered, by the thread that read it" test "$(all "answered * (thread > 0)" "$where")" -eq "$count"
		seen=$(all latency_ns "$where")
		check "oracle: $path takes $seen ns, no longer than its client waits, $(truth latency $path)" test \
			"$seen" -le "$(truth latency $path)"
	done
	# On the loopback most of what the client waits is the server's; it waits for a CPU itself, too.
	for path in /sleep/:id /burn /lock/:id; do
		check "oracle: $path, and 90 % of what its client waits" is_within "$(all latency_ns "name = 'GET $path'")" \
			"$(truth latency $path)" 100
	done
	check "oracle: /sleep sleeps $(its_part /sleep/:id sleep_ns), by its own clock $(truth spent /sleep/:id)" is_part \
		"$(its_part /sleep/:id sleep_ns)" "$(truth spent /sleep/:id)" "$(truth asked /sleep/:id)"
	check "oracle: /burn runs $(its_part /burn cpu_ns), by its own clock $(truth spent /burn)" is_part \
		"$(its_part /burn cpu_ns)" "$(truth spent /burn)" "$(truth asked /burn)"
	check "oracle: /lock waits $(its_part /lock/:id lock_ns) for its lock, by its own clock $(truth spent /lock/:id)" is_part \
		"$(its_part /lock/:id lock_ns)" "$(truth spent /lock/:id)" "$(truth asked /lock/:id)"
	check "oracle: bytes received" test "$(all received_bytes)" -eq "$(awk '$1 == "received" { print $2 }' "$work/truth")"
	check "oracle: bytes sent" test "$(all sent_bytes)" -eq "$(awk '$1 == "sent" { print $2 }' "$work/truth")"
	check "oracle: no request without an answer" test "$(all "closed + reset + timed_out + open")" -eq 0
	budgets_close oracle
	bytes_close oracle
	no_secrets oracle
}

start_nginx() {
	mkdir -p "$work/www"
	echo hello >"$work/www/index.html"
	cat >"$work/nginx.conf" <<-END
		worker_processes 2; pid $work/nginx.pid; error_log $work/nginx.log; daemon off; user root;
		events { worker_connections 512; }
		http { access_log off; keepalive_requests 10000000;
			server { listen 127.0.0.1:$port; root $work/www; } }
	END
	nginx -c "$work/nginx.conf" 2>/dev/null &
	pids+=($!)
	for _ in $(seq 50); do (: </dev/tcp/127.0.0.1/"$port") 2>/dev/null && return; sleep 0.1; done
}

# The client's count has no requests that were under way when it ended: as many as it has connections, at most.
run_nginx() {
	local said count under_way=16
	session=$work/nginx.dwell
	start_nginx
	wrk -t1 -c$under_way -d6 "http://127.0.0.1:$port/index.html?token=hunter2secret" >"$work/before" & # there before
	pids+=($!)
	sleep 0.5
	measure 40
	wait ${pids[-1]}
	said=$(wrk -t1 -c$under_way -d2 "http://127.0.0.1:$port/items/4711?token=hunter2secret")
	count=$(echo "$said" | awk '/requests in/ { print $1 }')
	measured
	check "nginx: from $((count - under_way)) to $((count + under_way)) requests of /items/:id, as wrk counts: $(
		all requests "name = 'GET /items/:id'")" eval \
		"[ $(all requests "name = 'GET /items/:id'") -ge $((count - count / 1000 - under_way)) ] &&
		 [ $(all requests "name = 'GET /items/:id'") -le $((count + count / 1000 + under_way)) ]"
	check "nginx: connections from before the recording count, too" test "$(all requests "name = 'GET /index.html'")" -gt 1000
	check "nginx: a file that is not there is an error, each time" is_within "$(all errors "name = 'GET /items/:id'")" \
		"$(all answered "name = 'GET /items/:id'")" 20 # by a sample of the requests: one in some
	budgets_close nginx
	bytes_close nginx "port = $port"
	no_secrets nginx
}

# A connection for each request: nobody gave up, so no request has no answer.
run_fresh_connections() {
	session=$work/fresh.dwell
	measure 30
	python3 - "$port" <<-'END'
		import http.client, sys
		for i in range(500):
		    c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
		    c.request("GET", "/index.html", headers={"Connection": "close", "Cookie": "hunter2secret"})
		    assert c.getresponse().read() == b"hello\n"
		    c.close()
	END
	measured
	counts "fresh connections" "$(all requests "name = 'GET /index.html'")" 500
	check "fresh connections: 0 phantom errors" test "$(all "errors + closed + reset + timed_out" "port = $port")" -eq 0
	bytes_close "fresh connections" "port = $port"
}

run_redis() {
	local redis=$((port + 1))
	session=$work/redis.dwell
	redis-server --port $redis --bind 127.0.0.1 --save '' --dir "$work" >/dev/null &
	pids+=($!)
	sleep 0.5
	measure 60
	redis-benchmark -p $redis -n 50000 -c 20 -t set -q >/dev/null
	redis-cli -p $redis set hunter2secret hunter2secret >/dev/null
	redis-benchmark -p $redis -n 32000 -c 4 -P 16 -t get -q >/dev/null
	measured
	counts redis "$(all requests "name = 'SET'")" 50001
	check "redis: pipelined requests are said to be more than were counted" test "$(all several "name = 'GET'")" -gt 100
	check "redis: it is an event loop" is_within "$(all loop "name = 'SET'")" "$(all requests "name = 'SET'")" 20
	budgets_close redis
	bytes_close redis "port = $redis"
	no_secrets redis
}

postgres() { su postgres -c "PATH=$(echo /usr/lib/postgresql/*/bin):\$PATH; cd $work/pg; $*"; }

# as_postgres MODE HOST: pgbench -S, as many transactions as it counts itself
run_pgbench() {
	local mode=$1 host=$2 count name
	session=$work/pg-$mode.dwell
	measure 60
	count=$(postgres "pgbench -h $host -p $((port + 2)) -S -M $mode -n -c 4 -t 4000 postgres" |
		awk '/actually processed/ { sub(/.*: /, ""); sub(/\/.*/, ""); print }')
	[ "$mode" = extended ] || postgres "psql -h $host -p $((port + 2)) -Atc \"select 'hunter2secret'\"" >/dev/null
	measured
	name=$(ask "SELECT name FROM endpoints e JOIN request_counts c ON c.endpoint = e.id GROUP BY name ORDER BY sum(requests) DESC LIMIT 1")
	counts "postgresql, $mode: $name" "$(all requests "name = '$name'")" "$count"
	check "postgresql, $mode: it is named by verb and table" test "$name" = "SELECT pgbench_accounts"
	check "postgresql, $mode: a thread per request" test "$(all thread "name = '$name'")" -eq "$(all requests "name = '$name'")"
	check "postgresql, $mode: nobody was left without an answer" test \
		"$(all "errors + closed + reset + timed_out" "name = '$name'")" -eq 0
	budgets_close "postgresql, $mode"
	bytes_close "postgresql, $mode"
	no_secrets "postgresql, $mode"
}

run_postgres() {
	mkdir "$work/pg"
	chmod 755 "$work"
	chown postgres "$work/pg"
	postgres "initdb -D $work/pg/data -A trust >/dev/null &&
		pg_ctl -D $work/pg/data -o '-p $((port + 2)) -k $work/pg -c listen_addresses=127.0.0.1 -c fsync=off' -w -s -l $work/pg/log start &&
		pgbench -h $work/pg -p $((port + 2)) -i -q postgres 2>/dev/null >/dev/null"
	run_pgbench simple 127.0.0.1
	run_pgbench extended "$work/pg" # through its Unix socket
	postgres "pg_ctl -D $work/pg/data -m immediate -s stop"
}

run_oracle
run_nginx
run_fresh_connections
run_redis
run_postgres
finish
