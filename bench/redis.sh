#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What Tier A on the whole host takes from a server at its worst: short requests, one at a time on
# each of 50 connections.
. bench/lib.sh
need_tools redis-server redis-benchmark
dwell_knows record || give_up "this dwell has no 'record'"

. bench/servers.sh

start_redis

# busy_ticks: of all CPUs, since boot, without idle and iowait
busy_ticks() { awk '/^cpu / { print $2 + $3 + $4 + $7 + $8 }' /proc/stat; }

# load NAME: notes throughput, latency and the host's CPU time
load() {
	local before ticks begin
	before=$(busy_ticks) begin=$(date +%s%N)
	load_redis "$1"
	ticks=$(($(busy_ticks) - before))
	note "$1-cpu" "$(awk "BEGIN { print 100 * $ticks / $(getconf CLK_TCK) / (($(date +%s%N) - $begin) / 1e9) }")"
}

without() { load without; }
tier_a() { with a --tier A; }

load warm-up
interleave without tier_a
divide throughput redis-a redis-without
goal throughput ">=" 0.98 "requests a second, with dwell over without"
show redis-without "1/s"
show redis-a "1/s"
show redis-p99-without "ms"
show redis-p99-a "ms"
show without-cpu "% of one"
show a-cpu "% of one"
exit $status
