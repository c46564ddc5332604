#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ten thousand short processes: what has no place of its own is counted for its command, to the last value.
. tests/lib.sh
need_root

work=$(mktemp -d -p "${BUILD:-build}")
trap 'rm -rf "$work"' EXIT
oracle=$(realpath "$TOOLS/workloads/oracle")
dwell=$(realpath "$DWELL")
file=$work/a.dwell

(cd "$work" && timeout 110 "$dwell" record -q -s files --tier B --no-stacks -o a.dwell -- "$oracle" commands >truth)
check "it is recorded" test $? -eq 0
sql() { sqlite3 "$file" "$1"; }
truth() { awk -v key="$1" '$1 == key { print $2 }' "$work/truth"; }
values="series JOIN series_values ON series = series.id WHERE series.signal = 'files'"

all=$(sql "SELECT sum(count) FROM $values")
other=$(sql "SELECT total(count) FROM $values AND object = -1")
commands=$(sql "SELECT total(count) FROM $values AND pid = 0 AND object <> -1")
check "(other) has at most 1 % of $all values: $other; commands have $commands" \
	test "$(sql "SELECT $other * 100 <= $all")" = 1
check "commands have most of them" test "$(sql "SELECT $commands * 2 > $all")" = 1
check "each of 20 commands has its name" test "$(sql "SELECT count(DISTINCT name) FROM labels
	WHERE signal = 'series' AND name LIKE 'command-%'")" = 20
for op in open:2 read:0; do # as the signal numbers them
	check "${op%:*}s are all counted" test "$(sql "SELECT sum(count) FROM $values AND detail = ${op#*:}")" -ge "$(truth "${op%:*}s")"
done
# 20 commands, 10,000 processes: 500 of each; what the parent does besides is its own
check "each command has its own: 500 processes, 4 reads each" test "$(sql "SELECT count(*) FROM (SELECT
	coalesce((SELECT comm FROM processes p WHERE p.pid = series.pid AND p.start_ns = series.start_ns),
		(SELECT name FROM labels WHERE labels.signal = 'series' AND labels.id = series.start_ns)) AS command,
	sum(count) AS reads FROM $values AND detail = 0 GROUP BY 1)
	WHERE command LIKE 'command-%' AND reads = 2000")" = 20
check "the report names them" sh -c "'$DWELL' report '$file' --signal files | grep -q 'command-[0-9]* ([0-9,]* processes)'"
check "nothing was lost" test "$(sql "SELECT total(lost) FROM shares")" = 0.0
finish
