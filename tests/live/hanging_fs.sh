#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program whose file system never answers, overlayfs over FUSE made in a user namespace: the
# measurement ends on time, all other stacks are complete, and the file counts as unreachable. So it
# is when that file can be opened and its first bytes be read, and only the next read hangs.
# timing: when a recording ends is compared with when it began, beside two programs that take all CPUs
. tests/lib.sh
need_root

work=$(mktemp -d)
mkfifo "$work/stdin"
exec 9<>"$work/stdin"
seconds=${HANGING_SECONDS:-5}
server=

"$TOOLS/workloads/oracle" burn >/dev/null &
burn=$!
# Of another build: what is known of one file serves all that are of its build.
objcopy --remove-section .note.gnu.build-id "$TOOLS/workloads/oracle" "$work/program"
# The server's death ends the file system, and whoever waits for it.
end_server() { [ -z "$server" ] || { pkill -9 -P $server; kill -9 $server; } 2>/dev/null; }
trap 'end_server; kill -9 $burn 2>/dev/null; rm -rf "$work" /tmp/hanging-fs-*' EXIT

# start_server [--reads]: and the program, whose pid is in $pid then
start_server() {
	: >"$work/pid"
	"$TOOLS/hanging_fs" "$@" "$work/program" burn <"$work/stdin" >"$work/pid" 2>"$work/told" &
	server=$!
	for _ in {1..50}; do
		[ -s "$work/pid" ] && break
		sleep 0.1
	done
	pid=$(cat "$work/pid")
}

reads_begin() { timeout -s KILL 1 head -c 4 "/proc/$pid/exe" >/dev/null 2>&1; }
hangs() { ! reads_begin; }
json() { jq -e "$1" "$work/a.json"; }

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

# record_beside WHAT: and what holds in any case
record_beside() {
	local begin took_ms
	begin=$(date +%s%N)
	timeout -s KILL $((seconds * 4)) "$DWELL" record -a -F 199 --max-overhead 50% -d "$seconds" -o "$work/a.dwell" 2>"$work/told"
	took_ms=$((($(date +%s%N) - begin) / 1000000))
	check "$1: the recording ends on time: within 2.5 s of its $seconds s ($took_ms ms)" \
		test "$took_ms" -lt $((seconds * 1000 + 2500))
	"$DWELL" report --json "$work/a.dwell" >"$work/a.json" 2>>"$work/told"
	check "$1: the file is counted: its file system did not answer, it is unreachable" \
		json '.quality.unwind | .opener_hangs >= 1 and .files_unreachable >= 1'
	"$DWELL" report "$work/a.dwell" >"$work/a.txt" 2>>"$work/told"
	check "$1: the report says so" grep -q "a file system did not answer in time" "$work/a.txt"
	check "$1: no window is longer than 1.25 s: two files of it may hang, and the host is busy" is_on_time
}

start_server
if [ -z "$pid" ]; then
	echo "ok - a file system that hangs # SKIP it cannot be made here: $(head -1 "$work/told")"
	exit 0
fi
check "whoever opens the program's file waits" hangs
record_beside "an open that hangs"

complete_share() {
	"$DWELL" export -f folded --pid "$1" "$work/a.dwell" 2>/dev/null |
		awk '{ all += $NF } !/\[incomplete|no mapping|no page|bad frame/ { good += $NF }
			END { print all, good; exit !(all > 50 && good >= 0.99 * all) }'
}
check "the other program's stacks are complete: at least 99 %" complete_share $burn

# --- it opens, and does not read ---

end_server
start_server --reads
check "the program's file opens, and begins" reads_begin
record_beside "a read that hangs"
check "it says what it left alone" grep -q 'a file system did not answer within 2 s: the symbolizer process was replaced' "$work/told"
check "one process waits there, not more" json '.quality.unwind | .opener_hangs == 1 and .symbolizer_replaced == 1'

# After those two seconds and the second that it takes to look at all processes again
complete_at_the_end() {
	sqlite3 "$work/a.dwell" "SELECT total(count * (stop IN (SELECT id FROM stops WHERE name IN ('end', 'zero')))) / total(count),
		total(count) FROM samples WHERE pid = $burn AND window >= (SELECT max(id) - 1 FROM windows)" | tee "$work/complete"
	awk -F '|' '{ exit !($1 >= 0.99 && $2 > 50) }' "$work/complete"
}
check "the other program's stacks are complete in the last two seconds: at least 99 %" complete_at_the_end
[ -z "${KEEP:-}" ] || cp "$work/a.dwell" "$KEEP"
finish
