#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What -s requests on the whole host takes from servers that have no time to spare: nginx under wrk, PostgreSQL under
# pgbench -S, redis under redis-benchmark. Requests a second with dwell over those without, of one round; Tier A alone
# beside it.
. bench/lib.sh
need_tools nginx wrk setpriv redis-server redis-benchmark
. bench/servers.sh

start_postgres
start_nginx
start_redis

# load NAME
load() {
	load_nginx "$1"
	load_postgres "$1"
	load_redis "$1"
}

without() { load without; }
tier_a() { with a --tier A; }
requests() { with requests -s requests; }

load warm-up
interleave without tier_a requests
for server in nginx pgbench redis; do
	for what in a requests; do
		divide $server-throughput-$what $server-$what $server-without
		divide $server-latency-$what $server-p99-$what $server-p99-without
	done
	bound=0.97
	[ $server != redis ] || bound=0.95
	goal $server-throughput-requests ">=" $bound "requests a second with -s requests on the whole host, over without"
	show $server-throughput-requests ""
	show $server-throughput-a ""
	show $server-latency-requests "p99"
	show $server-latency-a "p99"
	for what in without a requests; do
		show $server-$what "1/s"
	done
done
exit $status
