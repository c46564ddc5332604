#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What Tier A on the whole host takes from a server at its worst: short requests, one at a time on
# each of 50 connections.
. bench/lib.sh
need_tools redis-server redis-benchmark
dwell_knows record || give_up "this dwell has no 'record'"

PORT=${PORT:-16379}
REQUESTS=${REQUESTS:-100000}

redis-server --port "$PORT" --save '' --appendonly no --dir "$work" >"$work/redis.log" 2>&1 &
server=$!
stop_server() { kill $server 2>/dev/null && wait $server 2>/dev/null; }
at_end+=(stop_server)
for _ in $(seq 50); do
	redis-cli -p "$PORT" ping >/dev/null 2>&1 && break
	sleep 0.1
done

# busy_ticks: of all CPUs, since boot, without idle and iowait
busy_ticks() { awk '/^cpu / { print $2 + $3 + $4 + $7 + $8 }' /proc/stat; }

# load NAME: notes throughput, latency and the host's CPU time
load() {
	local before ticks begin csv
	before=$(busy_ticks) begin=$(date +%s%N)
	csv=$(redis-benchmark -p "$PORT" -P 1 -c 50 -t get -n "$REQUESTS" --csv 2>/dev/null | tail -1 | tr -d '"')
	ticks=$(($(busy_ticks) - before))
	# test, rps, average, least, p50, p95, p99, most
	note "$1-rps" "$(echo "$csv" | cut -d, -f2)"
	note "$1-p99" "$(echo "$csv" | cut -d, -f7)"
	note "$1-cpu" "$(awk "BEGIN { print 100 * $ticks / $(getconf CLK_TCK) / (($(date +%s%N) - $begin) / 1e9) }")"
}

without() { load without; }

with() {
	start_recorder
	load with
	stop_recorder
	sleep 0.5 # the kernel frees what it had
}

load warm-up
interleave without with
divide throughput with-rps without-rps
goal throughput ">=" 0.98 "requests a second, with dwell over without"
show without-rps "1/s"
show with-rps "1/s"
show without-p99 "ms"
show with-p99 "ms"
show without-cpu "% of one"
show with-cpu "% of one"
exit $status
