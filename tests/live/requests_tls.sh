#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# -s requests against servers that speak TLS: by a library whose functions have probes, they have names; else they are timed,
# and said to have none. Their clients count for themselves. Servers and connections are older than the recording, or younger.
# timing: what requests take is compared with what their client waits
. tests/lib.sh
need_root
. tests/requests_lib.sh

sources=$(realpath tests/live/requests_tls)
CONNECTIONS=8
EACH=100 # requests of each kind and connection

# has PROGRAM...: all of them are installed
has() { for program; do command -v "$program" >/dev/null || return 1; done; }

has openssl python3 && openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/key" -out "$work/certificate" -days 2 \
	-subj /CN=localhost 2>/dev/null || { skip "TLS: counts of its client" "no openssl, or no python3"; finish; exit; }

# serve COMMAND...: starts it with the certificate, its key and a port, and waits until it listens
serve() {
	port=$((port + 1))
	"$@" "$work/certificate" "$work/key" "$port" >"$work/server" 2>&1 &
	pids+=($!)
	until_listens
}
until_listens() { for _ in $(seq 100); do (: </dev/tcp/127.0.0.1/"$port") 2>/dev/null && return; sleep 0.1; done; }
served() { kill "${pids[-1]}" && wait "${pids[-1]}" 2>/dev/null; unset "pids[-1]"; }

serve_nginx() {
	port=$((port + 1))
	mkdir -p "$work/www/users" "$work/nginx"
	cat >"$work/nginx.conf" <<-END
		worker_processes 2; pid $work/nginx.pid; error_log $work/nginx.log; daemon off; user root;
		events { worker_connections 512; }
		http { access_log off; keepalive_requests 10000000; client_body_temp_path $work/nginx;
			server { listen 127.0.0.1:$port ssl; ssl_certificate $work/certificate; ssl_certificate_key $work/key;
				location / { return 200 "hello\n"; }
				location /missing { return 404 "hello\n"; } } }
	END
	nginx -c "$work/nginx.conf" 2>/dev/null &
	pids+=($!)
	until_listens
}

asked() { read -r warm users missing orders waited < <(python3 "$sources/client.py" "$port" $CONNECTIONS $EACH); }

# record_before SERVER...: the recording is there first
record_before() {
	rm -f "$session"*
	measure 90
	"$@"
	asked
	"$TOOLS/private_stack" requests_tls_both requests_tls_read requests_tls_end requests_go_read requests_go_read_end \
		>"$work/stacks"
	measured
	served
}

# record_after SERVER...: server and connections are there first
record_after() {
	rm -f "$session"*
	"$@"
	coproc client { python3 "$sources/client.py" "$port" $CONNECTIONS $EACH wait; }
	read -r _ <&"${client[0]}"
	measure 90
	sleep 1 # until all of it is attached
	echo go >&"${client[1]}"
	read -r warm users missing orders waited <&"${client[0]}"
	# shellcheck disable=SC2154 # coproc sets it
	wait "$client_PID"
	measured
	served
}

named() { all requests "port = $port AND name = '$1'"; }
status_of() { ask "SELECT group_concat(DISTINCT status) FROM requests r JOIN endpoints e ON e.id = r.endpoint WHERE port = $port AND name = '$1'"; }

# What holds of all of them.
holds() {
	local requests="port = $port AND kind = 'request'"
	check "$1: each of $((warm + users + missing + orders)) requests of its client is counted: $(all requests "$requests")" test \
		"$(all requests "$requests")" -eq $((warm + users + missing + orders))
	check "$1: each is answered" test "$(all answered "$requests")" -eq "$(all requests "$requests")"
	check "$1: requests take $(latency_of_all "$port") ns, no longer than its client waits: $waited" test \
		"$(latency_of_all "$port")" -le "$waited"
	budgets_close "$1"
	bytes_close "$1" "port = $port"
	no_secrets "$1"
}

# names NAME WAITING: those of the client, with their statuses. Only while dwell looks for the library there are none, and
# WAITING times for a thread that was within it then: it waited there for the first request after that.
names() {
	check "$1: GET /users/:id: $(named "GET /users/:id") of $users" test "$(named "GET /users/:id")" -ge $((users - $2))
	check "$1: GET /missing/:id: $missing" test "$(named "GET /missing/:id")" -eq "$missing"
	check "$1: POST /orders/:id: $orders" test "$(named "POST /orders/:id")" -eq "$orders"
	check "$1: beside these the first of each connection, and $(named "(tls, unnamed)") without a name" test \
		$(($(named "GET /users/:id") + $(named "GET /warm/:id") + $(named "(tls, unnamed)"))) -eq $((users + warm))
	check "$1: it is said to be in TLS" test "$(ask "SELECT DISTINCT protocol FROM endpoints WHERE port = $port AND
		name LIKE 'GET %'")" = http+tls
	check "$1: each error is one" test "$(all errors "port = $port")" -eq "$missing"
	check "$1: their status is 404" test "$(status_of "GET /missing/:id")" = 404
	check "$1: that of others is 200" test "$(status_of "GET /users/:id")$(status_of "POST /orders/:id")" = 200200
	holds "$1"
}

# without_names NAME: what cannot be seen
without_names() {
	check "$1: they are said to have no name: $(named "(tls, unnamed)")" test "$(named "(tls, unnamed)")" -eq \
		$((warm + users + missing + orders))
	check "$1: nothing has a wrong name" test "$(all requests "port = $port AND name NOT LIKE '(tls%'")" -eq 0
	holds "$1"
}

# of_library NAME WAITING SERVER...: older and younger than the recording
of_library() {
	local name=$1 waiting=$2
	shift 2
	session=$work/tls.dwell
	record_before "$@"
	names "$name" "$waiting"
	record_after "$@"
	names "$name, older" "$waiting"
}

of_library "python, threads" $CONNECTIONS serve python3 "$sources/server.py" threads
has_no_private_stack() { [ -s "$work/stacks" ] && ! grep -v ' no$' "$work/stacks"; }
check "no program at the library has a stack per CPU" has_no_private_stack
of_library "python, asyncio" 0 serve python3 "$sources/server.py" asyncio
if has nginx; then of_library nginx 0 serve_nginx; else skip "nginx: counts of its client" "no nginx"; fi
if has node; then
	of_library node 0 serve node "$sources/server.js"
	serve python3 "$sources/server.py" threads
	of_library "node, which asks over TLS itself" 0 serve node "$sources/proxy.js" "$port"
	served
else
	skip "node: counts of its client" "no node"
fi
if has go; then
	GOFLAGS=-mod=mod GOPROXY=off GOCACHE=$work/gocache go build -o "$work/server_go" "$sources/server.go"
	of_library go $CONNECTIONS serve "$work/server_go"
	GOFLAGS=-mod=mod GOPROXY=off GOCACHE=$work/gocache go build -ldflags=-s -o "$work/server_go" "$sources/server.go"
	session=$work/tls.dwell
	record_before serve "$work/server_go"
	without_names "go, without symbols"
else
	skip "go: counts of its client" "no Go"
fi
finish
