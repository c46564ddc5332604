#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What dwell on the whole host takes from two servers that have no time to spare: nginx under wrk, and PostgreSQL under
# pgbench -S. Requests a second with dwell over those without, of one round; Tier A, Tier B, and what signals need.
# Beside them, as the most that Tier B could leave: programs that do nothing at both ends of each system call.
. bench/lib.sh
need_tools nginx wrk setpriv
dwell_knows record --tier || give_up "this dwell has no 'record --tier'"
. bench/servers.sh

SIGNALS=runq,block,tcp,locks,files

start_postgres
start_nginx

# load NAME
load() {
	load_nginx "$1"
	load_postgres "$1"
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
