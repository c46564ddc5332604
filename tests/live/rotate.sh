#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dwell record --rotate --keep: each file is a complete session, and all of them joined are one recording
# without a gap, in which nothing is missing or there twice.
. tests/lib.sh
. tests/rotated.sh
need_root

work=$(mktemp -d)
load=
end() {
	[ -z "$load" ] || kill "$load" 2>/dev/null
	mountpoint -q "$work/small" && umount "$work/small"
	rm -rf "$work"
}
trap end EXIT
oracle=$TOOLS/workloads/oracle

# sum QUERY FILE...: the query's number, over all files
sum() {
	local query=$1 file total=0
	shift
	for file; do total=$((total + $(sql "$file" "$query"))); done
	echo "$total"
}

# has_no_warning FILE
has_no_warning() {
	"$DWELL" report "$1" >"$work/report" && no_alarm "$work/report"
}

# --- the whole host, beside processes that are born and die ---
"$oracle" storm >/dev/null 2>&1 & load=$!
timeout 90 "$DWELL" record -a -v --max-overhead 100% --rotate 2s --keep 3 -d 11 -o "$work/all.dwell" 2>"$work/err"
check "record -a --rotate 2s --keep 3 -d 11 succeeds" test $? -eq 0
kill "$load" 2>/dev/null
wait "$load" 2>/dev/null
load=
check "the newest three files are kept, and nothing else" \
	test "$(cd "$work" && echo all*)" = "all.0004.dwell all.0005.dwell all.0006.dwell"
check "that is said" grep -q "all.0004.dwell to .*all.0006.dwell are kept, 3 are removed" "$work/err"
check_files "$work"/all.*.dwell
for file in "$work"/all.*.dwell; do
	check "$(basename "$file"): report has no warning" has_no_warning "$file"
done
delay=$(grep -o 'from one file to the next: [0-9]*' "$work/err" | grep -o '[0-9]*$')
check "from one file to the next it takes less than 100 ms (${delay:-?})" test "${delay:-1000}" -lt 100

# --- a command: what it knows of itself is the sum over the files ---
timeout 60 "$DWELL" record -q --rotate 1s -F 199 -o "$work/one.dwell" -- \
	sh -c "for i in 1 2 3 4 5; do '$oracle' sleep; done" >"$work/truth" 2>"$work/err"
check "record --rotate with a command succeeds" test $? -eq 0
check_files "$work"/one.*.dwell
count=$(find "$work" -name 'one.*.dwell' | wc -l)
check "there are several files ($count)" test "$count" -ge 2
# The program's own time has the wait for a CPU after the sleep in it.
slept=$(sum "SELECT ifnull(sum(ns), 0) FROM ledger WHERE state IN (SELECT id FROM states WHERE name = 'blocked.sleep' OR name LIKE 'runq%')
	AND thread IN (SELECT id FROM threads WHERE comm = 'oracle')" \
	"$work"/one.*.dwell)
truth=$(awk '{ sum += $2 } END { printf "%.0f", sum }' "$work/truth")
check "joined: it slept $slept ns, 97 to 105 % of $truth by its own clock" test $((slept * 100)) -ge $((truth * 97)) -a $((slept * 100)) -le $((truth * 105))
first=$work/one.0001.dwell last=$(find "$work" -name 'one.*.dwell' | sort | tail -n 1)
id=$(sql "$last" "SELECT min(id) FROM threads")
wall=$(sum "SELECT ifnull(sum(ns), 0) FROM ledger WHERE thread = $id" "$work"/one.*.dwell)
life=$(($(sql "$last" "SELECT end_ns FROM threads WHERE id = $id") - $(sql "$first" "SELECT begin_ns FROM threads WHERE id = $id")))
check "joined: the thread's parts are its life, $life ns, to the nanosecond ($wall)" test "$wall" -eq "$life"

timeout 60 "$DWELL" record -q --tier B --rotate 1s -o "$work/calls.dwell" -- sh -c "
	'$oracle' calls >'$work/truth'; sleep 1.2; '$oracle' calls >>'$work/truth'"
for call in getppid dup; do
	seen=$(sum "SELECT ifnull(sum(count), 0) FROM calls c JOIN threads t ON t.tid = c.thread_tid
		AND t.start_ns = c.thread_start_ns AND t.account_ns = c.thread_begin_ns
		WHERE t.comm LIKE 'oracle%' AND call = (SELECT call FROM syscalls WHERE name = '$call' AND meaning IS NULL)" \
		"$work"/calls.*.dwell)
	truth=$(awk -v call="$call" '$1 == call { sum += $2 } END { printf "%.0f", sum }' "$work/truth")
	check "joined: $call was called $seen times, itself $truth" test "$seen" -eq "$truth"
done

# A stack that the kernel side sent in the first file is whole and named in the last.
timeout 60 "$DWELL" record -q --rotate 1s -F 499 -o "$work/burn.dwell" -- timeout 4.5 "$oracle" burn >/dev/null 2>&1
last=$(find "$work" -name 'burn.*.dwell' | sort | tail -n 1)
check "a stack of the first file is in the last, with its name" is "$last" \
	"ATTACH '$work/burn.0001.dwell' AS a; SELECT count(*) > 0 FROM samples s WHERE stack IN (SELECT stack FROM a.samples)
		AND (SELECT f.name FROM stacks k JOIN frames f ON f.id = k.frame WHERE k.id = s.stack) LIKE 'known_%'" 1
check_files "$work"/burn.*.dwell

# --- names, and what is there already ---
"$DWELL" record -q --rotate 1s -o "$work/one.dwell" -- true
check "files of an earlier recording are left alone" test -e "$work/one.$(printf %04d $((count + 1))).dwell"
"$DWELL" record -q --rotate 1s -o "$work/plain" -- true
check "a name without .dwell has the number at its end" test -e "$work/plain.0001"

# A file that somebody renamed, or put in place of ours, is not removed.
"$DWELL" record --rotate 1s --keep 2 -o "$work/mine.dwell" -- sh -c "
	sleep 1.5; mv '$work/mine.0001.dwell' '$work/saved'; echo hello >'$work/mine.0001.dwell'; sleep 2.2" 2>"$work/err"
check "a file of another's is not removed" grep -qx hello "$work/mine.0001.dwell"
check "nor what was renamed, which is complete" is "$work/saved" "SELECT count(*) FROM meta WHERE key = 'ended_ns'" 1
check "and that is said" grep -q "mine.0001.dwell is not the file that dwell wrote" "$work/err"

# The next file cannot be made: the one before goes on.
mkdir "$work/folder"
"$DWELL" record --rotate 1s -o "$work/folder/x.dwell" -- sh -c "
	sleep 1.3; mkdir '$work/folder/x.0004.dwell'; sleep 1.4; rmdir '$work/folder/x.0004.dwell'; sleep 1.6" 2>"$work/err"
check "a file that cannot be made is told" grep -q 'cannot begin the next file' "$work/err"
check_files "$work"/folder/x.*.dwell

# The disk fills up.
mkdir "$work/small"
mount -t tmpfs -o size=3m tmpfs "$work/small"
timeout 60 "$DWELL" record -a --rotate 1s -o "$work/small/full.dwell" -d 20 2>"$work/err"
check "disk full: record ends by itself, with 1" test $? -eq 1
check "disk full: that is said" grep -qE 'free disk space|No space left' "$work/err"
check "disk full: the first file is complete" is "$work/small/full.0001.dwell" "SELECT count(*) FROM meta WHERE key = 'ended_ns'" 1
umount "$work/small"

# --- usage ---
for usage in "--rotate 0.5s -a" "--rotate x -a" "--rotate 1s --keep 1 -a" "--keep 3 -a"; do
	# shellcheck disable=SC2086
	"$DWELL" record $usage 2>/dev/null
	check "record $usage: wrong usage" test $? -eq 64
done
for command in run trace; do
	"$DWELL" $command --rotate 1s -- true >/dev/null 2>&1
	check "$command has one session: --rotate is refused" test $? -eq 64
done
finish
