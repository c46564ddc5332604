#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The slowest events are the true ones: however many there are, the longest of a histogram heads the list.
. tests/lib.sh
need_root

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
file=$work/a.dwell

# More waits for a CPU than are reported one by one, and a few long ones at the end, with the budget used up
cat >"$work/load.py" <<-'END'
	import os, threading, time

	def nap(until):
	    while time.monotonic() < until:
	        time.sleep(0.0001)

	end = time.monotonic() + 3
	for _ in range(6):
	    if not os.fork():
	        threads = [threading.Thread(target=nap, args=(end,)) for _ in range(4)]
	        for thread in threads:
	            thread.start()
	        while time.monotonic() < end:
	            pass
	        os._exit(0)
	while True:
	    try:
	        os.wait()
	    except ChildProcessError:
	        break
END
"$DWELL" record -q -s runq --slow 1us -o "$file" -- python3 "$work/load.py"

max() { sqlite3 "$file" "SELECT max(max) FROM series JOIN series_values ON series = id WHERE signal = 'runq'"; }
first() { sqlite3 "$file" "SELECT max(ns) FROM slow WHERE signal = 'runq'"; }
check "more are slow than are reported one by one ($(sqlite3 "$file" "SELECT slow_unspoken FROM shares
	WHERE signal = 'runq'"))" test "$(sqlite3 "$file" "SELECT slow_unspoken > 0 FROM shares WHERE signal = 'runq'")" = 1
check "the longest of the histogram is the first of the list ($(max), $(first))" test "$(max)" = "$(first)"
cat >"$work/top.py" <<-'END'
	import sqlite3, sys
	from math import log2, floor
	db = sqlite3.connect(sys.argv[1])
	buckets = {}
	for (text,) in db.execute("SELECT buckets FROM series JOIN series_values ON series = id WHERE signal = 'runq'"):
	    for pair in text.split():
	        place, count = map(int, pair.split(":"))
	        buckets[place] = buckets.get(place, 0) + count
	top = [ns for (ns,) in db.execute("SELECT ns FROM slow WHERE signal = 'runq' ORDER BY ns DESC LIMIT 20")]
	left, missing = len(top), []
	for place in sorted(buckets, reverse=True):
	    low, high = 2 ** ((place - 2) / 16) * 0.999, 2 ** ((place - 1) / 16) * 1.001
	    listed = sum(low <= ns <= high for ns in top)
	    wanted = min(buckets[place], left)
	    if listed < wanted:
	        missing.append((place, listed, wanted))
	    left -= wanted
	    if left <= 0:
	        break
	print(missing, top[:3])
	sys.exit(bool(missing))
END
check "and so are the next 19" python3 "$work/top.py" "$file"
finish
