#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What happens when dwell cannot keep up, or may not: its own cost is held below --max-overhead, and
# a reader that stands still for seconds loses detail, but no time.
# timing: dwell's own cost is measured and compared with a limit
. tests/lib.sh
need_root

work=$(mktemp -d)
# Jobs that are left, not pids that were: a storm of processes uses numbers again.
end() {
	for pid in $(jobs -p); do kill -9 "$pid"; done 2>/dev/null
	rm -rf "$work"
}
trap end EXIT
file=$work/a.dwell

sql() { sqlite3 "$file" "$1"; }
is() { [ "$(sql "$1")" = "$2" ] || { echo "$1 gives $(sql "$1"), not $2"; return 1; }; }
# within A LEAST MOST
within() { [ "$1" -ge "$2" ] && [ "$1" -le "$3" ] || { echo "$1 is not from $2 to $3"; return 1; }; }

unclosed="SELECT count(*) FROM (SELECT t.end_ns - t.begin_ns AS wall, total(l.ns) AS parts
	FROM threads t LEFT JOIN ledger l ON l.thread = t.id GROUP BY t.id HAVING wall <> parts)"

# --- --max-overhead ---

dd if=/dev/zero of=/dev/null bs=1 status=none & storm=$!
timeout 60 "$DWELL" record --max-overhead 0.1% --tier B -p $storm -d 30 -o "$file" 2>"$work/err"
check "0.1 % under a storm of system calls: it ends well" test $? -eq 0
kill $storm
check "the first step thins rates" is "SELECT what LIKE 'rates thinned to 1/16%' FROM steps ORDER BY ts_ns LIMIT 1" 1
check "the first that is switched off, after detail, is Tier B of that process, with numbers" is "SELECT count(*) FROM
	(SELECT * FROM steps WHERE what LIKE '% off%' AND what <> 'detail off' ORDER BY ts_ns LIMIT 1)
	WHERE what = 'Tier B off for dd ($storm)' AND
	why GLOB 'cost *[0-9] % of *[0-9] CPUs, allowed 0.1 %; it made *[0-9] of *[0-9] system calls'" 1
# Thinned at once, and the rest after two readings above the limit at most: so of the last three one is below it.
check "it is held at the end, or it was detached" is "SELECT
	(SELECT count(*) FROM steps WHERE what LIKE 'detached%') OR
	(SELECT min(o.bpf_ns + o.user_cpu_ns) FROM (SELECT * FROM overhead WHERE bpf_ns IS NOT NULL
		ORDER BY window DESC LIMIT 3) o) <= 0.001 * 1.2e9 * $(nproc)" 1
check "it is not detached before ten readings after the last step" is "SELECT count(*) FROM steps d WHERE d.what LIKE 'detached%'
	AND d.ts_ns - (SELECT max(ts_ns) FROM steps WHERE what NOT LIKE 'detached%') < 8500000000" 0
check "each is told at once" test "$(grep -c 'allowed 0.1 %' "$work/err")" -eq "$(sql 'SELECT count(*) FROM steps')"
"$DWELL" report "$file" >"$work/text"
check "the report has them" grep -q "overhead limit, at .*: Tier B off for dd" "$work/text"
"$DWELL" report --json "$file" >"$work/json"
check "so has the JSON" jq -e --arg n "$(sql 'SELECT count(*) FROM steps')" \
	'(.quality.steps | length) == ($n | tonumber) and .quality.closure_error_ns == 0' "$work/json"
check "parts - wall = 0 ns" is "$unclosed" 0
check "it cost more with Tier B than without: the steps help" is "SELECT (SELECT bpf_ns FROM overhead
	WHERE window = 0) > 4 * (SELECT min(bpf_ns) FROM overhead)" 1
check "its system calls are counted up to the step, and split time ends there" is "SELECT
	(SELECT sum(count) FROM calls) > 10000 AND (SELECT max(w.begin_ns) FROM ledger l JOIN windows w ON w.id = l.window
		JOIN states s ON s.id = l.state WHERE s.name IN ('cpu.user', 'cpu.syscall')) <
		(SELECT ts_ns + 1e9 FROM steps WHERE what LIKE 'Tier B off for dd%')" 1
check "the session is complete" is "SELECT count(*) FROM meta WHERE key = 'ended_ns'" 1
check "and has the limit" is "SELECT value FROM meta WHERE key = 'max_overhead'" 0.1%

# A limit that nothing holds.
timeout 60 "$DWELL" run --max-overhead 0.001% -o "$file" -- \
	sh -c 'timeout 20 dd if=/dev/zero of=/dev/null bs=1 status=none; exit 7' 2>"$work/err"
check "run goes on without a measurement: the command's status passes through" test $? -eq 7
check "and it reports what there is" grep -q 'parts - wall = 0 ns' "$work/err"
check "run: closed" is "$unclosed" 0
check "run: it was detached before the command's end" is \
	"SELECT max(what) LIKE 'detached%' FROM (SELECT what FROM steps ORDER BY ts_ns DESC LIMIT 1)" 1
timeout 30 "$DWELL" record -a -d 1 -o "$file" 2>/dev/null
check "record has a limit of 5 %" is "SELECT value FROM meta WHERE key = 'max_overhead'" 5%
timeout 30 "$DWELL" run -q -o "$file" -- true
check "run has none" is "SELECT count(*) FROM meta WHERE key = 'max_overhead'" 0
for wrong in 0 -1 101 x 1%% ""; do
	"$DWELL" run --max-overhead "$wrong" -- true 2>/dev/null
	check "--max-overhead '$wrong': wrong usage" test $? -eq 64
done

# --- a reader that stands still ---

truth() { awk -v key="$1" '$1 == key { print $2 }' "$work/truth"; }

# The kernel's own counters, read past dwell: counted KEY sums it over CPUs and signals.
dump_counts() {
	local id
	rm -f "$work/counts"
	# Not awk alone: it ends at the first descriptor that is closed meanwhile.
	for id in $(cat "/proc/$1/fdinfo/"* 2>/dev/null | awk '/^map_id/ { print $2 }'); do
		[ "$(bpftool map show id "$id" -j | jq -r .name)" = emit_counts ] || continue
		bpftool map dump id "$id" -j >"$work/counts"
	done
}
counted() { jq "[.[0].formatted.values[].value.of[].$1] | add" "$work/counts"; }
told() { sql "SELECT cast(total(count) AS INTEGER) FROM losses WHERE cause = '$1'"; }

# A name of its own: others may run the same program.
name=storm$$
cp "$TOOLS/workloads/oracle" "$work/$name"

# start_dwell OPTIONS: as $dwell; comes back when its hooks are attached
start_dwell() {
	"$DWELL" record "$@" 2>"$work/err" & dwell=$!
	for _ in $(seq 100); do
		grep -qs ^link_type "/proc/$dwell/fdinfo/"* && break
		sleep 0.1
	done
	sleep 0.5
}

# stand_still WHO TIER: a storm of processes, during which one of dwell's two stands still for 5 s
stand_still() {
	local who=$1 tier=$2 stopped
	steal=$(steal_ns)
	start_dwell --comm "$name" --tier "$tier" -d 100 -o "$file"
	stopped=$dwell
	[ "$who" = reader ] || stopped=$(helpers_of "$dwell" ingest)
	"$work/$name" storm >"$work/truth" & storm=$!
	sleep 2
	kill -STOP "$stopped"
	sleep 5
	kill -CONT "$stopped"
	wait $storm
	sleep 1.5
	dump_counts "$dwell"
	kill -TERM "$dwell"
	wait "$dwell"
	steal=$(($(steal_ns) - steal))
	what="$who stopped for 5 s, Tier $tier"
	echo "# $what: $(truth children) processes; $(tr '\n' ' ' <"$work/err")"
}

dead_ns() { sql "SELECT cast(total(l.ns) AS INTEGER) FROM ledger l JOIN threads t ON t.id = l.thread
	JOIN states s ON s.id = l.state WHERE t.pid <> $storm AND s.name GLOB 'cpu*'"; }

# Sums have no begin; each other row is one thread's.
sums="SELECT cast(total(threads) AS INTEGER) FROM threads WHERE begin_ns = 0"
judge_storm() {
	check "$what: parts - wall = 0 ns on every thread" is "$unclosed" 0
	check "$what: the report says so too" sh -c "'$DWELL' report --json '$file' |
		jq -e '.quality.closure_error_ns == 0 and .quality.lost.ring_full == $(counted ring_full)'"
	# A row that corrects a provisional name is negative; what is left of a cause in a window is not.
	check "$what: no part is negative" is "SELECT count(*) FROM (SELECT 1 FROM ledger
		GROUP BY window, thread, state, call, object, holder HAVING sum(ns) < 0 OR sum(count) < 0)" 0
	check "$what: threads that lived are there from begin to end" is "SELECT count(*) FROM threads
		WHERE pid = $storm AND begin_ns > 0 AND is_dead AND end_ns - begin_ns > 11500000000" 5
	check "$what: each of $(truth threads) threads had its last word, alone or in one of $(sql "$sums")" is \
		"SELECT total(threads) FROM threads WHERE begin_ns = 0 OR is_dead" "$(truth threads).0"
	check "$what: records were indeed lost ($(counted coalesced))" test "$(counted coalesced)" -gt 500
	check "$what: the sums stand for what the kernel counted" is "$sums" "$(counted coalesced)"
	for cause in ring_full ring_busy no_storage torn no_room; do
		check "$what: lost for $cause is what the kernel counted ($(counted $cause))" \
			test "$(told $cause)" -eq "$(counted $cause)"
	done
	check "$what: no time was lost: no_storage, no_room, queue_full are 0" is \
		"SELECT count(*) FROM losses WHERE cause IN ('no_storage', 'no_room', 'queue_full')" 0
	cpu=$(truth children.cpu)
	echo "# after that, each ran for $(((10 * ($(dead_ns) - cpu)) / $(truth threads) / 1000)) tenths of a us"
	check "$what: CPU time of the dead is what their parent was told, and at most 5 us each after that" within \
		"$(dead_ns)" $((cpu * 99 / 100)) $((cpu * 101 / 100 + 5000 * $(truth threads) + steal))
}

if command -v bpftool >/dev/null; then
	# LONG=1 (make check-long): each with each tier.
	for of in "reader A" "worker B" ${LONG:+"reader B" "worker A"}; do
		stand_still "${of% *}" "${of#* }"
		judge_storm
	done
else
	echo "ok - a reader that stands still # SKIP needs bpftool, for the kernel's own counters"
fi
finish
