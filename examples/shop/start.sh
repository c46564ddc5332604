#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A small shop: nginx, a Python application, PostgreSQL, and customers. One page is slow: why?
#
#   sudo examples/shop/start.sh [SECONDS [FILE]]
#
# runs the shop for SECONDS (10), records the host with `dwell record -s requests` into FILE (shop.dwell in the current
# directory), and prints the report of its requests. Without root, the shop runs and nothing is recorded.
# All servers listen on 127.0.0.1 only, at SHOP_PORT (18080) and the two ports behind it. As root, they run as the user
# postgres. Their files are in a temporary folder, which is removed at the end.
#
# Debian packages: nginx-light postgresql python3 python3-psycopg2 curl
set -eu

seconds=${1:-10} session=$(realpath "${2:-shop.dwell}")
case $seconds in '' | *[!0-9]* | 0) echo "Usage: start.sh [SECONDS [FILE]]" >&2; exit 64 ;; esac
here=$(cd "$(dirname "$0")" && pwd)
front=${SHOP_PORT:-18080} app=$((front + 1)) database=$((front + 2))
dwell=$here/../../build/dwell
[ -x "$dwell" ] || dwell=$(command -v dwell) || dwell=
postgres=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
PATH=$postgres:/usr/sbin:$PATH

for program in nginx initdb postgres psql curl; do
	command -v $program >/dev/null || { echo "start.sh: $program is missing" >&2; exit 1; }
done

work=$(mktemp -d) pids=()
end() {
	local pid
	trap - EXIT INT TERM
	for pid in "${pids[@]}"; do kill -INT "$pid" 2>/dev/null || true; done # nginx and PostgreSQL end their processes
	for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
	rm -rf "$work"
}
trap end EXIT
trap 'exit 130' INT TERM

# The servers run in $work, as an ordinary user
chmod 755 "$work"
as=()
if [ "$(id -u)" = 0 ]; then
	chown postgres: "$work"
	as=(setpriv --reuid postgres --regid postgres --init-groups)
fi
cd "$work"

# start LOG COMMAND...: in the background, until this script ends; for no longer than it may take
start() {
	local log=$1
	shift
	"${as[@]}" timeout -k 5 $((seconds + 90)) "$@" >"$log" 2>&1 &
	pids+=($!)
}

# until_works LOG COMMAND...
until_works() {
	local log=$1
	shift
	for _ in $(seq 100); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.1
	done
	echo "start.sh: this did not work: $*" >&2
	tail -n 5 "$log" >&2
	exit 1
}

sql() { psql -q -h 127.0.0.1 -p "$database" -U postgres postgres; }

"${as[@]}" initdb -D "$work/data" -A trust -U postgres -N >initdb.log
start postgres.log postgres -D "$work/data" -p $database -k "$work" -c listen_addresses=127.0.0.1
until_works postgres.log pg_isready -h 127.0.0.1 -p "$database"
sql <<-SQL
	CREATE TABLE carts (id int PRIMARY KEY, items text);
	INSERT INTO carts SELECT i, 'cart ' || i FROM generate_series(1, 1000) i;
	CREATE TABLE orders (id int PRIMARY KEY, customer int, amount int);
	INSERT INTO orders SELECT i, i % 1000 + 1, i % 97 FROM generate_series(1, 100000) i;
	VACUUM ANALYZE;
SQL

start app.log /usr/bin/python3 "$here/shop.py" $app $database "$work"

# Connections to the application are kept, so that nginx opens none for each request
cat >nginx.conf <<-CONF
	daemon off; worker_processes 1; pid $work/nginx.pid; error_log stderr;
	events { worker_connections 256; }
	http {
	    access_log off;
	    client_body_temp_path $work/body; proxy_temp_path $work/proxy; fastcgi_temp_path $work/fastcgi;
	    uwsgi_temp_path $work/uwsgi; scgi_temp_path $work/scgi;
	    upstream app { server 127.0.0.1:$app; keepalive 16; }
	    server {
	        listen 127.0.0.1:$front;
	        location / { proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Connection ""; }
	    }
	}
CONF
until_works app.log curl -fs http://127.0.0.1:"$app"/cart/1
start nginx.log nginx -c "$work/nginx.conf"
until_works nginx.log curl -fs http://127.0.0.1:"$front"/cart/1
echo "The shop is open: http://127.0.0.1:$front/cart/1, /items/1 and /report/1"

if [ "$(id -u)" != 0 ] || [ -z "$dwell" ]; then
	[ -n "$dwell" ] && echo "Nothing is recorded: dwell needs root." || echo "Nothing is recorded: there is no dwell."
	/usr/bin/python3 "$here/load.py" "$front" "$seconds" &
	pids+=($!)
	wait $!
	exit
fi

# The customers come when the recording has begun, and leave before it ends: it has all of their requests. Beyond the
# overhead limit of 5 % of a small host it would not: --max-overhead.
rm -f "$session" "$session-wal"
"$dwell" record -q -a -s requests --max-overhead 25% -d $((seconds + 3)) -o "$session" &
pids+=($!)
for _ in $(seq 300); do [ ! -s "$session-wal" ] || break; sleep 0.1; done
/usr/bin/python3 "$here/load.py" "$front" "$seconds" >customers.log &
pids+=($!)
wait "${pids[@]: -2}" # the customers, and the recording
unset 'pids[-1]' 'pids[-1]'
echo "What the customers saw:"
cat customers.log
"$dwell" report --requests --slowest 3 --user postgres "$session"
echo
echo "The session is $session: try dwell report, dwell query or dwell report --html page.html"
