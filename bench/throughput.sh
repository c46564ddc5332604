#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What dwell on the whole host takes from two servers that have no time to spare: nginx under wrk, and PostgreSQL under
# pgbench -S. Requests a second with dwell over those without, of one round; Tier A, Tier B, and what signals need.
# Beside them, as the most that Tier B could leave: programs that do nothing at both ends of each system call.
. bench/lib.sh
need_tools nginx wrk setpriv
dwell_knows record --tier || give_up "this dwell has no 'record --tier'"

SECONDS_EACH=${SECONDS_EACH:-5}
PORT=${PORT:-18080}
SIGNALS=runq,block,tcp,locks,files

# --- the servers ---

postgres=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -1)
[ -x "$postgres/postgres" ] || give_up "needs postgresql"
as_postgres() { setpriv --reuid=postgres --regid=postgres --init-groups env -C / "$@"; }
stop_servers() {
	[ ! -e "$work/nginx.pid" ] || kill "$(cat "$work/nginx.pid")"
	as_postgres "$postgres/pg_ctl" -D "$work/pg/data" -m immediate stop >/dev/null 2>&1
}
at_end=(stop_recorder stop_servers)

chmod 755 "$work"
install -d -o postgres "$work/pg"
as_postgres "$postgres/initdb" -D "$work/pg/data" -A trust -N >"$work/pg.log" 2>&1 &&
	as_postgres "$postgres/pg_ctl" -D "$work/pg/data" -l "$work/pg/log" -w \
		-o "-p $((PORT + 1)) -k $work/pg -c listen_addresses= -c fsync=off" start >>"$work/pg.log" 2>&1 &&
	as_postgres "$postgres/pgbench" -h "$work/pg" -p $((PORT + 1)) -i -s 5 postgres >>"$work/pg.log" 2>&1 ||
	give_up "PostgreSQL does not start: $(tail -1 "$work/pg.log")"

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

# --- what is measured ---

wrk_rps() { wrk -t 1 -c 32 -d "$SECONDS_EACH" "http://127.0.0.1:$PORT/index.html" | awk '/^Requests\/sec/ { print $2 }'; }
pgbench_rps() {
	as_postgres "$postgres/pgbench" -h "$work/pg" -p $((PORT + 1)) -n -S -c 4 -T "$SECONDS_EACH" postgres 2>/dev/null |
		awk '/^tps/ { print $3 }'
}

# load NAME
load() {
	note "nginx-$1" "$(wrk_rps)"
	note "pgbench-$1" "$(pgbench_rps)"
}

# with NAME OPTION...
with() {
	local name=$1
	shift
	start_recorder "$@"
	load "$name"
	stop_recorder
	sleep 0.5 # the kernel frees what it had
}

nothing=
stop_nothing() {
	[ -n "$nothing" ] || return
	pkill -P "$nothing" # it ends with its command
	wait "$nothing"
	nothing=
}
at_end+=(stop_nothing)

with_nothing() {
	"${BUILD:-build}/bench/nothing" calls sleep inf &
	nothing=$!
	sleep 0.5
	load nothing
	stop_nothing
	sleep 0.5
}

without() { load without; }
tier_a() { with a --tier A; }
tier_b() { with b --tier B; }
signals() { with signals -s $SIGNALS; }

load warm-up
interleave without with_nothing tier_a tier_b signals
for server in nginx pgbench; do
	for what in nothing a b signals; do
		divide $server-throughput-$what $server-$what $server-without
	done
	goal $server-throughput-a ">=" 0.98 "requests a second with Tier A on the whole host, over without"
	goal $server-throughput-b ">=" 0.92 "the same with Tier B"
	goal $server-throughput-signals ">=" 0.88 "the same with -s $SIGNALS"
	show $server-throughput-nothing ""
	for what in without nothing a b signals; do
		show $server-$what "1/s"
	done
done
exit $status
