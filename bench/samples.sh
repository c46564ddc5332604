#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What sampling costs in all, user and kernel: the CPU time of the tool's own processes, and what its
# interrupts take from the program, against perf at the same frequency: with frame pointers, which gives
# broken stacks, and with DWARF and the report that unwinds them, which gives the same as dwell's.
#
# The program says what it ran itself, so the rest of the CPU time of the whole tree is the tool's. One
# that looks at the clock all the time, twenty frames deep, says how long it was interrupted (an
# interrupt is charged to whom it interrupts, and so is in what the program ran).
. bench/lib.sh
need_tools perf sqlite3 /usr/bin/python3.11

FREQ=${FREQ:-999}

cat >"$work/busy.py" <<'END'
import json, re, resource, time
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
end = time.monotonic() + 10
while time.monotonic() < end:
    fib(15); json.loads(json.dumps(list(range(500))))
    sorted(str(i) for i in range(2000)); re.sub("a+", "b", "aaab" * 500)
used = resource.getrusage(resource.RUSAGE_SELF)
print("own", int((used.ru_utime + used.ru_stime) * 1e9))
END
gaps=(taskset -c 0 "$ORACLE" gaps)
python=(taskset -c 0 /usr/bin/python3.11 "$work/busy.py")

said() { awk -v key="$1" '$1 == key { print $2; found = 1 } END { if (!found) print 0 }' "$work/said"; }

# spent COMMAND...: CPU time of all of it, less what the program says to be its own, ns
spent() {
	local cpu
	TIMEFORMAT='%U %S'
	cpu=$({ time "$@" >"$work/said" 2>/dev/null; } 2>&1)
	awk -v own="$(said own)" '{ printf "%.0f\n", ($1 + $2) * 1e9 - own }' <<<"$cpu"
}

# tool NAME PROGRAM COMMAND...: its cost, in seconds, with what it took by interrupts
tool() {
	local name=$1 program=$2 own
	shift 2
	own=$(spent "$@")
	note "$name-processes" "$(awk -v v="$own" 'BEGIN { print v / 1e9 }')"
	[ "$program" = gaps ] || return
	note "$name-interrupts" "$(awk -v v="$(said gaps)" 'BEGIN { print v / 1e9 }')"
}

alone() { tool alone gaps "${gaps[@]}"; }
of_dwell() { tool dwell gaps "$DWELL" record --tier A -F "$FREQ" -o "$work/a.dwell" -- "${gaps[@]}"; }
of_perf() { tool perf-fp gaps perf record -F "$FREQ" -g -o "$work/fp" -- "${gaps[@]}"; }

dwell_on_python() {
	tool dwell-python python "$DWELL" record --tier A -F "$FREQ" -o "$work/a.dwell" -- "${python[@]}"
	note complete "$(sqlite3 "$work/a.dwell" "SELECT 100.0 * total(CASE WHEN stop IN (SELECT id FROM stops WHERE
		name IN ('none', 'end', 'zero')) THEN count END) / sum(count) FROM samples")"
	note per-sample "$(sqlite3 "$work/a.dwell" "SELECT bpf_ns / 1e3 / events FROM hooks WHERE attached
		AND hook IN ('sample_clock', 'sample_cycles')")"
}
perf_on_python() {
	tool perf-dwarf python perf record -F "$FREQ" --call-graph dwarf -o "$work/dwarf" -- "${python[@]}"
	rm -f "$work/said"
	touch "$work/said"
	note perf-dwarf-report "$(spent perf report -i "$work/dwarf" --stdio | awk '{ print $1 / 1e9 }')"
	rm -f "$work"/dwarf*
}

interleave alone of_dwell of_perf dwell_on_python perf_on_python
# total NAME: processes, and interrupts beyond those that there are anyway
total() {
	paste "$work/$1-processes.values" "$work/$1-interrupts.values" "$work/alone-interrupts.values" |
		awk '{ extra = $2 - $3; print $1 + (extra > 0 ? extra : 0) }' >"$work/$1.values"
}
total dwell
total perf-fp
paste "$work/perf-dwarf-processes.values" "$work/perf-dwarf-report.values" |
	awk '{ print $1 + $2 }' >"$work/perf-dwarf.values"
divide to-perf-fp dwell perf-fp
divide to-perf-dwarf dwell-python-processes perf-dwarf
goal to-perf-fp "<=" 3 "CPU time over that of perf record -g"
goal to-perf-dwarf "<=" 0.1 "CPU time over that of perf record --call-graph dwarf and its report"
goal per-sample "<=" 15 "microseconds in the sampling program, on average"
for values in dwell dwell-processes perf-fp perf-fp-processes dwell-python-processes perf-dwarf-processes \
	perf-dwarf-report perf-dwarf; do
	show "$values" s
done
show complete %
exit $status
