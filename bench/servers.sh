# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Servers under load, for scripts that source it after lib.sh: nginx under wrk, PostgreSQL under pgbench -S, redis under
# redis-benchmark. What each was asked for in a second is noted as SERVER-NAME, and its p99 in ms as SERVER-p99-NAME.

: "${work:?lib.sh comes first}"

PORT=${PORT:-18080}
SECONDS_EACH=${SECONDS_EACH:-5}
REDIS_REQUESTS=${REDIS_REQUESTS:-100000}

postgres=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -1)
as_postgres() { setpriv --reuid=postgres --regid=postgres --init-groups env -C / "$@"; }

redis=
stop_servers() {
	[ ! -e "$work/nginx.pid" ] || kill "$(cat "$work/nginx.pid")"
	[ ! -d "$work/pg/data" ] || as_postgres "$postgres/pg_ctl" -D "$work/pg/data" -m immediate stop >/dev/null 2>&1
	[ -z "$redis" ] || { kill "$redis" && wait "$redis"; } 2>/dev/null
}
at_end+=(stop_servers)

# --- nginx ---

start_nginx() {
	chmod 755 "$work"
	mkdir "$work/www"
	head -c 1024 /dev/zero >"$work/www/index.html"
	cat >"$work/nginx.conf" <<-END
		worker_processes 1;
		pid $work/nginx.pid;
		error_log $work/nginx.log;
		events { worker_connections 256; }
		http {
			access_log off;
			server { listen 127.0.0.1:$PORT; root $work/www; }
		}
	END
	nginx -c "$work/nginx.conf" 2>"$work/nginx.log" || give_up "nginx does not start: $(tail -1 "$work/nginx.log")"
}

# load_nginx NAME
load_nginx() {
	wrk -t 1 -c 32 -d "$SECONDS_EACH" --latency "http://127.0.0.1:$PORT/index.html" >"$work/wrk"
	note "nginx-$1" "$(awk '/^Requests\/sec/ { print $2 }' "$work/wrk")"
	note "nginx-p99-$1" "$(awk '$1 == "99%" { print $2 ~ /us$/ ? $2 / 1000 : $2 ~ /ms$/ ? $2 + 0 : $2 * 1000 }' "$work/wrk")"
}

# --- PostgreSQL ---

start_postgres() {
	[ -x "$postgres/postgres" ] || give_up "needs postgresql"
	chmod 755 "$work"
	install -d -o postgres "$work/pg"
	as_postgres "$postgres/initdb" -D "$work/pg/data" -A trust -N >"$work/pg.log" 2>&1 &&
		as_postgres "$postgres/pg_ctl" -D "$work/pg/data" -l "$work/pg/log" -w \
			-o "-p $((PORT + 1)) -k $work/pg -c listen_addresses= -c fsync=off" start >>"$work/pg.log" 2>&1 &&
		as_postgres "$postgres/pgbench" -h "$work/pg" -p $((PORT + 1)) -i -s 5 postgres >>"$work/pg.log" 2>&1 ||
		give_up "PostgreSQL does not start: $(tail -1 "$work/pg.log")"
}

# load_postgres NAME
load_postgres() {
	rm -f "$work/pg/each".*
	note "pgbench-$1" "$(as_postgres "$postgres/pgbench" -h "$work/pg" -p $((PORT + 1)) -n -S -c 4 -T "$SECONDS_EACH" \
		-l --log-prefix "$work/pg/each" postgres 2>/dev/null | awk '/^tps/ { print $3 }')"
	note "pgbench-p99-$1" "$(cat "$work/pg/each".* | awk '{ print $3 }' | sort -n |
		awk '{ v[NR] = $1 } END { print v[int(NR * 0.99)] / 1000 }')"
}

# --- redis ---

start_redis() {
	redis-server --port $((PORT + 2)) --save '' --appendonly no --dir "$work" >"$work/redis.log" 2>&1 &
	redis=$!
	for _ in $(seq 50); do
		redis-cli -p $((PORT + 2)) ping >/dev/null 2>&1 && return
		sleep 0.1
	done
	give_up "redis does not start: $(tail -1 "$work/redis.log")"
}

# load_redis NAME
load_redis() {
	local csv
	csv=$(redis-benchmark -p $((PORT + 2)) -P 1 -c 50 -t get -n "$REDIS_REQUESTS" --csv 2>/dev/null | tail -1 | tr -d '"')
	# test, rps, average, least, p50, p95, p99, most
	note "redis-$1" "$(echo "$csv" | cut -d, -f2)"
	note "redis-p99-$1" "$(echo "$csv" | cut -d, -f7)"
}

# with NAME OPTION...: the script's load, beside a recording with these options
with() {
	local name=$1
	shift
	start_recorder "$@"
	load "$name"
	stop_recorder
	sleep 0.5 # the kernel frees what it had
}
