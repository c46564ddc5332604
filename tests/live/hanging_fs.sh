#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program whose file system never answers, overlayfs over FUSE made in a user namespace: the
# measurement ends on time, all other stacks are complete, and the file counts as unreachable.
# timing: when a recording ends is compared with when it began, beside two programs that take all CPUs
. tests/lib.sh
need_root

work=$(mktemp -d)
mkfifo "$work/stdin"
exec 9<>"$work/stdin"
seconds=${HANGING_SECONDS:-5}

"$TOOLS/hanging_fs" "$TOOLS/workloads/oracle" burn <"$work/stdin" >"$work/pid" 2>"$work/told" &
server=$!
"$TOOLS/workloads/oracle" burn >/dev/null &
burn=$!
# The server's death ends the file system, and whoever waits for it.
trap 'kill -9 $server $burn 2>/dev/null; pkill -9 -P $server; rm -rf "$work" /tmp/hanging-fs-*' EXIT

for _ in {1..50}; do
	[ -s "$work/pid" ] && break
	sleep 0.1
done
pid=$(cat "$work/pid")
if [ -z "$pid" ]; then
	echo "ok - a file system that hangs # SKIP it cannot be made here: $(head -1 "$work/told")"
	exit 0
fi

hangs() { ! timeout -s KILL 1 head -c 4 "/proc/$pid/exe" >/dev/null 2>&1; }
check "whoever opens the program's file waits" hangs

begin=$(date +%s%N)
timeout -s KILL $((seconds * 4)) "$DWELL" record -q -a -F 199 --max-overhead 50% -d "$seconds" -o "$work/a.dwell" 2>"$work/told"
took_ms=$((($(date +%s%N) - begin) / 1000000))
check "the recording ends on time: within 2.5 s of its $seconds s ($took_ms ms)" test "$took_ms" -lt $((seconds * 1000 + 2500))

"$DWELL" report --json "$work/a.dwell" >"$work/a.json" 2>>"$work/told"
json() { jq -e "$1" "$work/a.json"; }
check "the file is counted: its file system did not answer, it is unreachable" \
	json '.quality.unwind | .opener_hangs >= 1 and .files_unreachable >= 1'
"$DWELL" report "$work/a.dwell" >"$work/a.txt" 2>>"$work/told"
check "the report says so" grep -q "a file system did not answer in time" "$work/a.txt"

# One call may take 100 ms; those of one window are no more than what mappings may take of it.
is_on_time() {
	python3 - "$work/a.dwell" <<-'END'
		import sqlite3, sys
		rows = sqlite3.connect(sys.argv[1]).execute("SELECT end_ns - begin_ns FROM windows").fetchall()
		longest = max(r[0] for r in rows[:-1])
		print("longest window:", longest)
		sys.exit(longest > 1_250_000_000)
	END
}
check "no window is longer than 1.25 s: two files of it may hang, and the host is busy" is_on_time

complete_share() {
	"$DWELL" export -f folded --pid "$1" "$work/a.dwell" 2>/dev/null |
		awk '{ all += $NF } !/\[incomplete|no mapping|no page|bad frame/ { good += $NF }
			END { print all, good; exit !(all > 50 && good >= 0.99 * all) }'
}
check "the other program's stacks are complete: at least 99 %" complete_share $burn
[ -z "${KEEP:-}" ] || cp "$work/a.dwell" "$KEEP"
finish
