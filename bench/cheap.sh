#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What each signal that is marked free or cheap takes of a core, with dwell on the whole host: one that has nothing
# to do, and one with a server of 4,000 requests a second, which has some work and is far from its limit. Its
# programs' time by the kernel's clock, whose own 20 ns a run are in it, and the CPU time of dwell's processes above
# that of a recording without signals.
. bench/lib.sh
need_tools sqlite3

signals=${SIGNALS:-$("$DWELL" record -s help | awk '$2 == "free" || $2 == "cheap" { print $1 }')}
[ -n "$signals" ] || give_up "this dwell has no signals"

server=
start_server() {
	"$ORACLE" moderate >"$work/truth" &
	server=$!
	sleep 0.5
}
stop_server() {
	[ -n "$server" ] || return
	kill -TERM "$server" 2>/dev/null
	wait "$server" 2>/dev/null
	server=
}
at_end+=(stop_server)

# record [-s SIGNAL]: a session, $work/s.dwell
record() {
	rm -f "$work"/s.dwell*
	"$DWELL" record -q -a --no-stacks --max-overhead 100% -d 3 -o "$work/s.dwell" "$@" 2>"$work/why" ||
		give_up "dwell record $* failed: $(tail -1 "$work/why")"
}

ask() { sqlite3 "$work/s.dwell" "$1"; }
# processes: % of a core, of dwell's own
processes() { ask "SELECT 100.0 * (SELECT sum(user_cpu_ns) FROM overhead) / (max(end_ns) - min(begin_ns)) FROM windows"; }
# programs SIGNAL: likewise, of its programs, but for iterators, which run in dwell's own processes
programs() {
	ask "SELECT 100.0 * total(bpf_ns) / max(measured_ns) FROM hooks WHERE attached AND hook LIKE '$1\_%' ESCAPE '\\'
		AND hook NOT LIKE '%\_seed' ESCAPE '\\' AND hook NOT LIKE '%\_rows' ESCAPE '\\'"
}

# measure LOAD: a round of all, each note is % of a core
measure() {
	local signal without
	record
	without=$(processes)
	note "$1-alone" "$without"
	for signal in $signals; do
		record -s "$signal"
		note "$1-$signal-programs" "$(programs "$signal")"
		note "$1-$signal" "$(awk -v p="$(programs "$signal")" -v u="$(processes)" -v w="$without" \
			'BEGIN { print p + (u > w ? u - w : 0) }')"
	done
}

idle() { measure idle; }
moderate() {
	local begin
	start_server
	begin=$(date +%s%N)
	measure moderate
	stop_server
	note requests "$(awk -v ns=$(($(date +%s%N) - begin)) '$1 == "requests" { print $2 / ns * 1e9 }' "$work/truth")"
}

ROUNDS=${ROUNDS_CHEAP:-5}
interleave idle moderate
show requests "1/s"
for load in idle moderate; do
	show $load-alone "%"
	for signal in $signals; do
		goal $load-"$signal" "<=" 1 "% of a core for -s $signal"
		show $load-"$signal"-programs "%"
	done
done
exit $status
