#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A CPU that goes offline and comes back is sampled again, and the gap is told.
. tests/lib.sh
need_root

online=/sys/devices/system/cpu/cpu1/online
if ! [ -w $online ] || ! [ "$(cat $online)" = 1 ]; then
	echo "ok - CPU hotplug # SKIP this machine has no CPU that can be switched off"
	exit
fi
work=$(mktemp -d -p "${BUILD:-build}")
busy=
trap 'echo 1 >$online; [ -z "$busy" ] || kill $busy; rm -rf "$work"' EXIT

"$DWELL" record -a --max-overhead 100% -d 6 -o "$work/a.dwell" >"$work/said" 2>&1 &
dwell=$!
until_begun "$work/a.dwell"
sleep 0.3
echo 0 >$online || { echo "ok - CPU hotplug # SKIP CPU 1 cannot be switched off"; exit; }
sleep 0.7
echo 1 >$online
taskset -c 1 sh -c 'while :; do :; done' &
busy=$!
wait $dwell
check "it is recorded" test $? -eq 0
check "that the CPU came back is said" grep -q "CPU 1 came online" "$work/said"
# In the last two windows: how many samples, their weight, and the time on a CPU that the ledger has.
read -r samples weight cpu < <(sqlite3 -separator ' ' "$work/a.dwell" "
	WITH last AS (SELECT max(id) - 1 AS id FROM windows)
	SELECT (SELECT total(count) FROM samples, last WHERE tid = $busy AND window >= last.id AND
			kind = (SELECT id FROM sample_kinds WHERE name = 'cpu')),
		(SELECT total(weight_ns) FROM samples, last WHERE tid = $busy AND window >= last.id AND
			kind = (SELECT id FROM sample_kinds WHERE name = 'cpu')),
		(SELECT total(ns) FROM ledger, last WHERE window >= last.id AND
			thread IN (SELECT id FROM threads WHERE tid = $busy) AND
			state IN (SELECT id FROM states WHERE name LIKE 'cpu%'))" | sed 's/\.0//g')
check "what ran there afterwards has samples: $samples" test "$samples" -ge 20
check "they stand for at least a third of its time on a CPU" test $((weight * 3)) -ge "$cpu" -a "$cpu" -gt 0
check "the report tells the gap" sh -c "COLUMNS=500 '$DWELL' report '$work/a.dwell' | grep -q 'CPUs came online 1 time: they have no samples for up to'"
finish
