#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# -s alloc against a program that knows what it allocates, where, and how long that takes.
# timing: a median of malloc's latency is compared with the program's own clock, and a storm is judged by what it costs a second
. tests/lib.sh
need_root

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
oracle=$TOOLS/workloads/oracle

# record NAME OPTIONS... -- COMMAND: its session, report, truth and what it told
record() {
	local name=$1
	shift
	timeout 60 "$DWELL" record -o "$work/$name.dwell" -s alloc "$@" \
		>"$work/$name.truth" 2>"$work/$name.told" &&
		"$DWELL" report "$work/$name.dwell" --signal alloc --json >"$work/$name.json"
}

truth() { awk -v key="$2" '$1 == key { print $2 }' "$work/$1.truth"; }

# measured NAME KIND FUNCTION FIELD: the sum over series whose stack goes through it
measured() {
	jq --arg kind "$2" --arg by "$3" \
		"[.signals.alloc[] | select(.kind == \$kind and ((\" \" + .stack + \" \") | contains(\" \" + \$by + \" \"))) | .$4] | add // 0" \
		"$work/$1.json"
}

# within A B SHARE: do they differ by at most this share of B?
within() { [ -n "$1" ] && [ "${2:-0}" -gt 0 ] && awk -v a="$1" -v b="$2" -v share="$3" 'BEGIN { d = a - b; exit !((d < 0 ? -d : d) <= share * b) }' ||
	{ echo "$1 is not $2 within $3"; return 1; }; }

same() { within "$(measured "$1" "$2" "$3" sum_bytes)" "$(truth "$1" "$2.$3")" "${4:-0}"; }

no_unmatched() {
	jq -e '[.signals.alloc[].unmatched | .orphan_start + .orphan_end + .expired] | add == 0' "$work/$1.json"
}

# --- all of them ---

check "every allocation is counted" record all --alloc-every 1 --live --force --kernel=16K -- "$oracle" alloc
for by in alloc_small alloc_middle alloc_large alloc_kept alloc_aligned alloc_grown; do
	check "bytes of $by are exact" same all bytes $by
done
check "calls are counted exactly" test "$(measured all bytes alloc_small count)" = "$(truth all count.alloc_small)"
check "mmap's address space is exact" same all asked alloc_mapped
check "resident memory grows by what was touched, within 2 %" same all resident alloc_mapped 0.02
check "large allocations of the kernel's own are within 5 %" same all kernel alloc_pipe 0.05 # and slabs, now and then
check "what was freed is all but what was kept" test "$(measured all freed alloc_large sum_bytes) \
$(measured all freed alloc_small sum_bytes) $(measured all freed alloc_kept sum_bytes)" = \
	"$(truth all bytes.alloc_large) $(truth all bytes.alloc_small) 0"
check "every start has its end" no_unmatched all

# The program's clock has the probes' own time in it, as they are within its calls.
median() {
	jq --argjson size "$2" '.signals.alloc[] | select(.kind == "latency" and .function == "malloc" and .size_id == $size) | .p50_ns' \
		"$work/$1.json"
}
near() { [ "${1:-0}" -gt 0 ] && [ "${2:-0}" -gt 0 ] && awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !((d < 0 ? -d : d) <= (b * 0.02 > 100000 ? b * 0.02 : 100000)) }' ||
	{ echo "$1 ns is not near $2 ns"; return 1; }; }
check "large allocations take as long as the program says" near "$(median all 19)" "$(truth all latency.alloc_large)"
check "and longer than small ones" test "$(median all 19)" -gt "$((2 * $(median all 7)))"

# --- some of them ---

check "some are taken, through a shell" record some --alloc-every 4096 -- bash -c "'$oracle' alloc; true"
for by in alloc_large alloc_kept alloc_grown; do
	check "large ones are all taken: $by" same some bytes $by 0.005 # 1,000 of grown's bytes are small
done
check "a half is taken of those half as large" same some bytes alloc_aligned 0.15
check "small ones are estimated" same some bytes alloc_small 0.3
check "every start has its end, of those that were taken" no_unmatched some

# --- their price ---

check "a storm is measured if it is forced" record forced --alloc-every 16K --force -- "$oracle" alloc-storm
check "its bytes are right on average" same forced bytes alloc_many 0.08
check "what it costs is told" grep -q 'allocation calls a second, which cost' "$work/forced.told"
record refused -- "$oracle" alloc-storm
check "without, it is refused" grep -q 'not measured any more.*--force continues' "$work/refused.told"
given_up() { python3 -c 'import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).execute("select * from steps"))' "$work/refused.dwell"; }
check "and the session says so" grep -q 'alloc: malloc' <(given_up)

# --- other allocators ---

if [ -n "$(ldconfig -p | grep libjemalloc.so.2)" ]; then
	check "jemalloc" record je --alloc-every 1 --force -- env LD_PRELOAD=libjemalloc.so.2 "$oracle" alloc
	check "jemalloc's bytes are exact" same je bytes alloc_large
	check "jemalloc's small ones, too" same je bytes alloc_small
else
	echo "ok - jemalloc # SKIP it is not installed"
fi

# --- over time, more processes than can have probes at a time ---

three_at_a_time() { for _ in $(seq "$1"); do sleep 0.05 & sleep 0.05 & sleep 0.05 & wait; done; }
export -f three_at_a_time
had_probes() {
	local count
	record many -v -- bash -c "three_at_a_time 110" || return
	count=$(sed -nE 's/.*alloc: ([0-9]+) processes had probes.*/\1/p' "$work/many.told")
	echo "$count processes had probes"
	grep 'which is the limit' "$work/many.told" && return 1
	[ "${count:-0}" -gt 256 ]
}
check "probes of processes that ended are given back: more than 256 have some, over time" had_probes

# --- a program with very many symbols ---

# windows_ms NAME: how long its longest window was
windows_ms() {
	python3 -c 'import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).execute(
	    "select max(end_ns - begin_ns) / 1000000 from windows").fetchone())' "$work/$1.dwell"
}
# User time alone: the kernel's own part of attaching probes varies. It was 13 s, and the one window 28 s long.
large_program() {
	local TIMEFORMAT=%U seconds
	seconds=$({ time record node -- node -e "setTimeout(() => {}, 2000)"; } 2>&1) || return
	echo "$seconds s of CPU time, longest window $(windows_ms node) ms"
	awk -v seconds="$seconds" 'BEGIN { exit !(seconds < 3) }' && [ "$(windows_ms node)" -lt 2000 ]
}
if command -v node >/dev/null; then
	check "looking for malloc in a program of 100 MB takes less than 3 s of CPU time, and no window is 2 s long" large_program
else
	echo "ok - malloc in a program of 100 MB # SKIP node is not installed"
fi
finish
