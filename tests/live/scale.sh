#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A hundred thousand files, fifty thousand connections, five thousand locks, ten thousand threads, with every
# signal at once: all is counted, what has no place of its own among others, in bounded memory.
. tests/lib.sh
need_root

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
file=$work/many.dwell

signals=syscalls,runq,offcpu,sched,faults,block,files,tcp,netrx,locks
"$DWELL" run -q -s $signals -o "$file" -- "$TOOLS/workloads/oracle" many > >(cat >"$work/truth") 2>"$work/err" &
dwell=$!

# resident: kB of dwell's processes; shared pages once, and the maps' own memory, which user space maps, is
# theirs, not counted again
resident() {
	local pid
	for pid in $dwell $(helpers_of $dwell); do
		cat "/proc/$pid/smaps" 2>/dev/null
	done | awk '/^[0-9a-f]+-[0-9a-f]+ / { is_map = /bpf-map/ } /^Pss:/ && !is_map { sum += $2 } END { print sum + 0 }'
}
most=0
while kill -0 $dwell 2>/dev/null; do
	now=$(resident)
	[ "$now" -le "$most" ] || most=$now
	sleep 0.2
done
wait $dwell
check "nothing fails" test $? -eq 0
check "dwell has $((most / 1000)) MB of its own at most, at most 100" test "$most" -gt 1000 -a "$most" -le 100000
maps=$(sqlite3 "$file" "SELECT max(map_bytes) FROM overhead")
check "its maps have $((maps / 1000000)) MB, at most 64" test "$maps" -gt 0 -a "$maps" -le 64000000

"$DWELL" report --json "$file" >"$work/json" 2>"$work/err"
# sum SIGNAL FILTER: counts of these series
sum() { jq "[.signals.$1[] | select($2) | .count] | add // 0" "$work/json"; }
is() { [ "$1" -eq "$2" ] || { echo "$1, not $2"; return 1; }; }
check "each of 100,000 files is counted when it is written" is \
	"$(sum files '.kind == "latency" and .op == "write" and (.is_other or .file == null or (.file // "" | test("dwell-many")))')" 100000
check "most of them among others, or as any file of the command" test \
	"$(sum files '.kind == "latency" and .op == "write" and (.is_other or .file == null)')" -gt 90000
check "each of 50,000 connections is counted where it is made" is "$(sum tcp '.kind == "connect"')" 50000
check "and where it is accepted" is "$(sum tcp '.kind == "accept_wait"')" 50000
waits=$(awk '$1 == "lock.waits" { print $2 }' "$work/truth")
check "each of $waits waits for 5,000 locks is" test "$waits" -gt 4500 -a "$(sum locks '.kind == "wait"')" -ge "$waits"
check "most of them among others, or as any lock of the command" test \
	"$(sum locks '.kind == "wait" and (.is_other or (.lock == null and .comm == "oracle"))')" -gt 4000
check "each of 10,000 threads slept" test "$(sum offcpu '.state == "blocked.sleep"')" -ge 10000
check "what did not fit is told" jq -e '[.shares[] | select(.folded > 0)] | length >= 2' "$work/json"
finish
