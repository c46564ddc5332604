#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Names that JIT compilers write to /tmp/perf-PID.map: any user may write as many as they like.
. tests/lib.sh
need_root

work=$(mktemp -d)
PROCESSES=8
LINES=300000 # of a file: some 20 MB
jits=
clean_up() {
	local pid
	for pid in $jits; do
		kill "$pid" 2>/dev/null
		rm -f "/tmp/perf-$pid.map"
	done
	rm -rf "$work"
}
trap clean_up EXIT

# jit LINES: a process of nobody that runs now and then, has code of its own, and writes the names of it
jit() {
	exec setpriv --reuid nobody --regid nogroup --clear-groups /usr/bin/python3 -c '
import mmap, os, sys, time
code = mmap.mmap(-1, 65536, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
with open(f"/tmp/perf-{os.getpid()}.map", "w") as names:
    for i in range(int(sys.argv[1])):
        names.write(f"{0x7f0000000000 + i * 64:x} 40 a_function_with_a_long_name_as_they_are_{i}\n")
print("ready", flush=True)
while True:
    end = time.monotonic() + 0.01
    while time.monotonic() < end:
        pass
    time.sleep(0.05)
' "$1"
}

start() {
	local i
	for i in $(seq $PROCESSES); do
		jit $LINES >"$work/jit.$i" &
		jits="$jits $!"
	done
	for i in $(seq $PROCESSES); do
		until [ -s "$work/jit.$i" ]; do sleep 0.1; done
	done
}

# record: and the most memory that its symbolizer had at any time
record() {
	timeout 60 "$DWELL" record -a -d 4 -o "$work/jit.dwell" 2>"$work/told" &
	local recorder=$! dwell
	sleep 1
	dwell=$(tr -d ' ' <"/proc/$recorder/task/$recorder/children")
	while kill -0 "$dwell" 2>/dev/null; do
		awk '/^VmHWM/ { print $2 }' "/proc/$(helpers_of "$dwell" symbolize)/status" 2>/dev/null
		sleep 0.2
	done >"$work/kb"
	wait "$recorder"
}
most_kb() { sort -n "$work/kb" | tail -1; }

# All names of these files take 170 MB. While a part of them is joined to the others there are two copies of it.
bounded() {
	echo "$(most_kb) KB"
	[ "$(most_kb)" -gt 0 ] && [ "$(most_kb)" -lt $((130 * 1024)) ]
}
refused() { python3 -c 'import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).execute(
	"select value from meta where key = ?", ("jit_names_refused",)).fetchone())' "$work/jit.dwell"; }

start
check "a recording beside $PROCESSES processes with large perf maps" record
check "names of one user take a part of the memory: the symbolizer has less than 130 MB" bounded
check "those without room are counted" test "$(refused)" -gt $((LINES * PROCESSES / 4))
check "and the report says so" grep -q "lines of JIT compilers' /tmp/perf-PID.map files did not fit" \
	<("$DWELL" report "$work/jit.dwell" --json)
echo "# $(most_kb) KB at most, $(refused) of $((LINES * PROCESSES)) names refused"
finish
