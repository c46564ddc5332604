#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A recording that goes on and on, in files that are rotated, beside processes of 1,000 different binaries, new files
# and new connections: nothing grows, no table stays full, every loss has a cause, and the files have no gap.
# SOAK_SECONDS=3600 is the whole test (make check-long); by default it takes 4 minutes (make check-live).
#
# Memory is judged by means over a span, between when tables have filled up to their bounds and the end: from minute
# 10 on it grows by less than 5 %, in 4 minutes from minute 2 on by less than 10 %. A binary whose symbols stayed would
# be 50 KB and more, and there are some 30 a second whose tables are made.
. tests/lib.sh
. tests/rotated.sh
need_root

seconds=${SOAK_SECONDS:-240}
keep=6 rotate=10
if [ "$seconds" -ge 1200 ]; then
	judged_from=600 span=120 growth_most=5
else
	judged_from=$((seconds / 2)) span=$((seconds / 10)) growth_most=10
fi
work=$(mktemp -d)
dwell='' load='' watcher=''
end() {
	# shellcheck disable=SC2086
	kill $load $dwell $watcher 2>/dev/null
	rm -rf "$work"
}
trap end EXIT
mkdir "$work/load"

# --- what is seen while it runs ---

# descendants PID: it, and the processes below it
descendants() {
	ps -e -o ppid=,pid= | awk -v top="$1" '{ parent[$2] = $1 } END {
		for (pid in parent) {
			for (at = pid; at > 1 && at != top; at = parent[at])
				;
			if (at == top) print pid
		}
	}'
}

# watch PID: "SECOND PID KB DESCRIPTORS NAME" of each of its processes, every other second
watch() {
	local begin=$SECONDS pid kb name
	while kill -0 "$1" 2>/dev/null; do
		for pid in $(descendants "$1"); do
			kb=$(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status" 2>/dev/null)
			name=$(cat "/proc/$pid/comm" 2>/dev/null) # it may end at any moment
			[ -z "$kb" ] || [ -z "$name" ] ||
				echo "$((SECONDS - begin)) $pid $kb $(find "/proc/$pid/fd" -mindepth 1 2>/dev/null | wc -l) $name"
		done
		sleep 2
	done
}

file_of() { printf '%s/all.%04d.dwell' "$work" "$1"; }

# What a table had no place for is a loss with a name, or a fact about stacks. Not here: what a limit of a second or
# a window leaves out on purpose (slow events, execs), since no table stays full by it.
refusals="SELECT cause, sum(count) FROM losses WHERE cause LIKE '%no_place' OR cause IN
		('no_room', 'no_storage', 'process_paths', 'series_lost', 'pairs_full') GROUP BY cause
	UNION ALL SELECT key, value FROM meta WHERE value > 0 AND key IN ('unwind_tables_full', 'unwind_processes_refused',
		'unwind_modules_refused', 'unwind_pages_refused', 'coverage_dropped')"
# Samples without a stack whose loss nobody counted, and losses whose cause is not a name
no_cause="SELECT count(*) FROM losses WHERE cause IS NULL OR cause GLOB '*[^a-z_]*' OR count <= 0"
unexplained="SELECT total(count) > (SELECT total(count) FROM losses
	WHERE cause IN ('sample_no_stack', 'ring_full', 'ring_busy', 'queue_full'))
	FROM samples WHERE stack = 0 AND stop IN (SELECT id FROM stops WHERE name IN ('none', 'end', 'zero'))"

note_fault() {
	local output
	output=$(is "$1" "$3" "$4") || echo "$(basename "$1"): $2: $output" >>"$work/faults"
}

# judge_file NUMBER: while it is there; it is removed when $keep newer ones are
judge_file() {
	local file before=
	file=$(file_of "$1")
	[ "$1" -eq 1 ] || before=$(file_of $(($1 - 1)))
	each_property note_fault "$file" "$before"
	note_fault "$file" "each loss has a cause" "$no_cause" 0
	note_fault "$file" "each sample without a stack has a reason" "$unexplained" 0
	sql "$file" "$refusals" | sed "s/^/$1 /; s/|/ /" >>"$work/refusals"
	sql "$file" "SELECT cause, sum(count) FROM losses GROUP BY cause" | tr '|' ' ' >>"$work/losses"
	sql "$file" "SELECT key, value FROM meta WHERE key IN ('unwind_builds', 'unwind_cached', 'unwind_modules_reclaimed')" |
		tr '|' ' ' >>"$work/facts"
	sql "$file" "SELECT $1, what FROM steps" | tr '|' ' ' >>"$work/steps"
	judged=$1
}

# A file is complete when the one after the next is there. A dwell that does not end is killed.
follow() {
	local deadline=$((SECONDS + seconds + 120))
	judged=0
	while kill -0 "$dwell" 2>/dev/null && [ $SECONDS -lt $deadline ]; do
		sleep 1
		[ ! -e "$(file_of $((judged + 3)))" ] || judge_file $((judged + 1))
	done
	[ $SECONDS -lt $deadline ] || kill -9 "$dwell"
	wait "$dwell"
	status=$?
	while [ -e "$(file_of $((judged + 1)))" ]; do
		judge_file $((judged + 1))
	done
}

touch "$work/faults" "$work/refusals" "$work/losses" "$work/facts" "$work/steps"
strip -o "$work/binary" "$TOOLS/workloads/oracle"
oracle=$(realpath "$TOOLS/workloads/oracle")
idle_ns() { awk -v hz="$(getconf CLK_TCK)" '/^cpu / { printf "%.0f", $5 * 1e9 / hz }' /proc/stat; }
idle_before=$(idle_ns) steal_before=$(steal_ns)

# More is measured than by default, so that there is more to be given up, and all of it for all of the time.
"$DWELL" record -a -s tcp,files --max-overhead 50% --rotate ${rotate}s --keep $keep -d "$seconds" -o "$work/all.dwell" 2>"$work/err" &
dwell=$!
watch $dwell >"$work/figures" & watcher=$!
(cd "$work/load" && SOAK_SECONDS=$((seconds - 8)) BINARY=$work/binary exec "$oracle" soak) >"$work/truth" & load=$!
follow
dwell=
wait "$load"
check "the load does its work" test $? -eq 0
load=

# --- the load ---

truth() { awk -v key="$1" '$1 == key { print $2 }' "$work/truth"; }
share_of_cpus() { awk -v ns="$1" -v s="$seconds" -v cpus="$(nproc)" 'BEGIN { printf "%.0f", ns / 1e7 / s / cpus }'; }
idle=$(share_of_cpus $(($(idle_ns) - idle_before))) steal=$(share_of_cpus $(($(steal_ns) - steal_before)))
echo "# CPUs were idle for $idle % of the time; the hypervisor took $steal %"
for what in forks files connections; do
	asked=$(truth $what.asked) reached=$(truth $what.reached)
	text="$reached of $asked $what a second, within 5 %"
	if [ "$((${reached:-0} * 100))" -lt "$((${asked:-1} * 95))" ] && { [ "$idle" -lt 10 ] || [ "$steal" -ge 5 ]; }; then
		skip "$text" "the host has no more to give: CPUs idle $idle %, stolen $steal %"
	else
		check "$text" test "$((${reached:-0} * 100))" -ge "$((${asked:-1} * 95))"
	fi
done
check "of 1,000 different binaries" test "$(truth binaries)" -eq 1000

# --- what was found in the files ---

no_faults() { [ ! -s "$work/faults" ] || { head -n 20 "$work/faults"; return 1; }; }
fact() { awk -v key="$1" '$1 == key { sum += $2 } END { printf "%d", sum }' "$work/facts"; }

# stays_full: what had no place in each of the last files, as many as are kept
stays_full() {
	awk -v last="$judged" -v most="$keep" '$1 > last - most { files[$2]++; count[$2] += $3 } END {
		for (name in files)
			if (files[name] == most) {
				print name ": " count[name] " in the last " most " files, in each of them"
				bad = 1
			}
		exit !bad
	}' "$work/refusals"
}
none_stays_full() { ! stays_full; }

check "dwell record --rotate ${rotate}s --keep $keep -d $seconds succeeds" test "$status" -eq 0
check "there were $judged files, one in $rotate s" test "$judged" -ge $((seconds / rotate - 1))
check "the last $keep are kept" test "$(find "$work" -name 'all.*.dwell' | wc -l)" -eq $keep
check "each is complete, follows the one before without a gap, and each loss has a cause" no_faults
awk '{ sum[$1] += $2 } END { for (cause in sum) print "# lost by " cause ": " sum[cause] }' "$work/losses"
awk '{ sum[$2] += $3; files[$2]++ } END { for (name in sum) print "# no place, " name ": " sum[name] " in " files[name] " files" }' "$work/refusals"
sed 's/^/# step in file /' "$work/steps" | head -n 20
check "no table was full in each of the last $keep files" none_stays_full
looked_at=$(($(fact unwind_builds) + $(fact unwind_cached))) reclaimed=$(fact unwind_modules_reclaimed)
echo "# tables of $looked_at binaries were made or read, $reclaimed were given up"
# Those of the last 15 s may be known still, and the last 128 always are
check "binaries that no process runs any more are given up" \
	test "$reclaimed" -gt 0 -a "$reclaimed" -ge $((looked_at - 128 - 300 - looked_at * 15 / seconds))

# --- memory and descriptors ---

# growth: "PID NAME DESCRIPTORS-AT-MOST KB-BEFORE KB-AFTER PERCENT" of each process that was there at both times
growth() {
	awk -v from="$judged_from" -v span="$span" -v end="$(tail -n 1 "$work/figures" | cut -d' ' -f1)" '
		$4 > most[$2] { most[$2] = $4 }
		{ name[$2] = $5 }
		$1 >= from && $1 < from + span { before[$2] += $3; n_before[$2]++ }
		$1 > end - span { after[$2] += $3; n_after[$2]++ }
		END {
			for (pid in before)
				if (pid in after) {
					b = before[pid] / n_before[pid]; a = after[pid] / n_after[pid]
					printf "%d %s %d %d %d %.1f\n", pid, name[pid], most[pid], b, a, 100 * (a - b) / b
				}
		}' "$work/figures"
}
# grows_little PERCENT KB: or less than 1 MB, of a process that is small
grows_little() { awk -v most="$growth_most" -v growth="$1" -v kb="$2" 'BEGIN { exit !(growth < most || kb < 1024) }'; }
# Of each binary that is known there is one: the last 128, and those of the last 5 s
descriptors_most=$((128 + 5 * 300 + 200))
growth >"$work/growth"
check "memory was seen of 3 or more of dwell's processes, from the beginning to the end" test "$(wc -l <"$work/growth")" -ge 3
while read -r pid name descriptors before after percent; do
	check "memory of process $pid, $name, grows by less than $growth_most %, or 1 MB, from second $judged_from on: $before KB, then $after KB ($percent %)" \
		grows_little "$percent" $((after - before))
	check "process $pid has $descriptors descriptors, less than $descriptors_most" test "$descriptors" -lt $descriptors_most
done <"$work/growth"
finish
