#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The process that reads a session for a report has no privilege, no terminal, and no file but the
# session, which it can only read.
. tests/lib.sh
need_root

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkfifo "$work/out"

# look PID: checks the child of PID, which waits for us to read its report
look() {
	local child fd
	child=$(pgrep -P "$1")
	check "$2: it has a process of its own" test -n "$child"
	check "$2: it is nobody" grep -qE '^Uid:\s65534\s65534\s65534\s65534$' "/proc/$child/status"
	check "$2: it has no capability" grep -qE '^CapPrm:\s0+$' "/proc/$child/status"
	check "$2: it can get none" grep -qE '^NoNewPrivs:\s1$' "/proc/$child/status"
	check "$2: it has a session of its own" test "$(ps -o sid= -p "$child" | tr -d ' ')" = "$child"
	check "$2: it has no terminal" test "$(ps -o tty= -p "$child")" = "?"
	check "$2: its stdin is empty" test "$(readlink "/proc/$child/fd/0")" = /dev/null
	check "$2: one more file is open" test "$(find "/proc/$child/fd" -type l | wc -l)" -eq 4
	fd=$(find "/proc/$child/fd" -type l -printf '%f\n' | sort -n | tail -1)
	check "$2: which is read only" grep -qE '^flags:\s+[0-7]*0$' "/proc/$child/fdinfo/$fd"
}

# on_terminal COMMAND...: in the background, on a terminal of its own
on_terminal() { script -qec "$1" /dev/null </dev/null >/dev/null & }
# is_reader PID: not the worker, which prints nothing, nor the command that is measured
is_reader() { grep -q '^Uid:.65534' "/proc/$1/status" && [ "$(readlink "/proc/$1/fd/1")" != /dev/null ]; }
# A report that does not fit into a pipe waits for its reader.
waiting() {
	local pid child
	for _ in $(seq 100); do
		pid=$(pgrep -of "^$DWELL $1 .*$work")
		for child in ${pid:+$(pgrep -P "$pid")}; do
			is_reader "$child" && sleep 0.5 && echo "$pid" && return
		done
		sleep 0.1
	done
}

"$DWELL" run -q -o "$work/a.dwell" -- "$TOOLS/workloads/oracle" threads >/dev/null
on_terminal "$DWELL report --json --threads $work/a.dwell >$work/out"
exec 5<"$work/out"
look "$(waiting report)" report
check "report: it is whole" sh -c "jq -e '.schema' <&5"
exec 5<&-
on_terminal "$DWELL run --json -o $work/b.dwell -- $TOOLS/workloads/oracle threads 2>$work/out"
exec 5<"$work/out"
look "$(waiting run)" run
check "run: it is whole" sh -c "jq -e '.schema' <&5"
exec 5<&-
wait
finish
