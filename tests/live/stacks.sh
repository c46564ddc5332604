#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Stacks of programs that know their own: which function burned or slept for how long, and of programs
# whose code comes and goes while they run. tests/live/complete.sh has real programs.
# timing: shares of samples are compared with what a program burned and slept by its own clock
. tests/lib.sh
need_root

work=$(mktemp -d)
file=$work/a.dwell
oracle=$(realpath "$TOOLS/workloads/oracle")
end() {
	[ -z "${burner:-}" ] || kill -9 "$burner" "$target" 2>/dev/null
	rm -rf "$work"
}
trap end EXIT

sql() { sqlite3 -readonly "$file" "$1"; }
truth() { awk -v key="$1" '$1 == key { sum += $2 } END { printf "%.0f", sum }' "$work/truth"; }

# record_oracle WORKLOAD [OPTION...]: its session in $file, what it says of itself in $work/truth
record_oracle() {
	local workload=$1
	shift
	timeout 60 "$DWELL" record "$@" -o "$file" -- "$oracle" "$workload" >"$work/truth" 2>"$work/err"
	check "$workload: it is recorded" test $? -eq 0
}

# is QUERY VALUE
is() {
	local got
	got=$(sql "$1")
	[ "$got" = "$2" ] || { echo "$1 gives $got, not $2"; return 1; }
}

# between VALUE LEAST MOST
between() {
	awk -v v="$1" -v a="$2" -v b="$3" 'BEGIN { if (v >= a && v <= b) exit 0;
		print v " is not between " a " and " b; exit 1 }'
}

# Each sample with the name of its innermost function.
leaves="(SELECT s.*, f.name leaf FROM samples s LEFT JOIN stacks t ON t.id = s.stack
	LEFT JOIN frames f ON f.id = t.frame)"
# Each stack with the functions that are in it, once each.
within="(WITH RECURSIVE up(stack, id) AS (SELECT DISTINCT stack, stack FROM samples UNION
	SELECT up.stack, t.parent FROM up JOIN stacks t ON t.id = up.id WHERE t.parent != 0)
	SELECT DISTINCT up.stack stack, f.name name FROM up JOIN stacks t ON t.id = up.id
	JOIN frames f ON f.id = t.frame)"
complete="(SELECT id FROM stops WHERE name IN ('none', 'end', 'zero'))"
cpu="kind = (SELECT id FROM sample_kinds WHERE name = 'cpu')"
blocked="kind = (SELECT id FROM sample_kinds WHERE name = 'blocked')"

# percent CONDITION [OF]: of the samples for which OF holds, as many as CONDITION holds for
percent() {
	sql "SELECT round(100.0 * sum(CASE WHEN $1 THEN count ELSE 0 END) / sum(count), 2)
		FROM $leaves WHERE ${2:-1}"
}

# --- shares ---

record_oracle shares -F 997
for share in half:50 third:30 fifth:20; do
	got=$(percent "leaf = 'known_${share%:*}'" "$cpu")
	check "shares: known_${share%:*} has ${share#*:} %, within 2 points ($got)" \
		between "$got" $((${share#*:} - 2)) $((${share#*:} + 2))
done
# Not all: those of its first milliseconds come before the tables of its files are loaded.
check "shares: 99 % of its samples, or more, lead to the outermost function" \
	between "$(percent "stop IN $complete")" 99 100
# A sample at the border of a system call may find the ledger on the other side of it.
check "shares: the ledger agrees with the samples' modes, but for 2 % of them" is \
	"SELECT 50 * sum(mismatches) <= sum(count) FROM samples WHERE $cpu" 1
got=$(sql "SELECT (SELECT sum(weight_ns) FROM samples WHERE $cpu) / (SELECT 0.01 * sum(ns) FROM ledger
	JOIN states ON states.id = state WHERE name LIKE 'cpu%')")
# The clock does not tick while the hypervisor has the CPU, and stands for a whole tick where a turn on a CPU ends early.
check "shares: samples stand for the time on a CPU, within 7 % ($got %)" between "$got" 93 107
check "shares: nothing was lost" is "SELECT coalesce(sum(count), 0) FROM losses WHERE cause LIKE 'sample%'
	OR cause LIKE 'stack%'" 0

check "shares: its JSON follows docs/report.schema.json" sh -c "'$DWELL' report --json --threads '$file' >'$work/json' &&
	tests/schema.py docs/report.schema.json '$work/json' && jq -e '.stacks[0].frames[0] and (.frames | length > 0)' '$work/json'"

# --- two rates ---

# Of the program's own: the kernel's depend on what else the host does.
top="SELECT group_concat(leaf, ' ') FROM (SELECT leaf FROM (SELECT leaf, sum(count) n FROM $leaves s
	JOIN stacks t ON t.id = s.stack JOIN frames f ON f.id = t.frame JOIN modules m ON m.id = f.module
	WHERE s.$cpu AND m.path LIKE '%/oracle' GROUP BY leaf ORDER BY n DESC LIMIT 10) ORDER BY leaf)"
record_oracle ladder -F 199
slow=$(sql "$top")
record_oracle ladder -F 997
fast=$(sql "$top")
check "ladder: two rates give the same ten functions" test "$slow" = "$fast"
check "ladder: and these are the ones that burn" test "$(grep -o known_step_ <<<"$fast" | wc -l)" -eq 10
for share in 19 11 3; do
	got=$(percent "leaf = 'known_step_$share'" "$cpu")
	check "ladder: known_step_$share has $share %, within 2 points ($got)" \
		between "$got" $((share - 2)) $((share + 2))
done

# --- hot, cold, hot ---

record_oracle hotcold -F 499
computes() { # FROM TO: samples of known_compute in windows that are wholly between these
	sql "SELECT coalesce(sum(count), 0) FROM $leaves s JOIN windows w ON w.id = s.window
		WHERE leaf = 'known_compute' AND $cpu AND begin_ns >= $1 AND end_ns <= $2"
}
check "hotcold: known_compute is hot, with 200 samples or more" between "$(computes "$(truth hot_begin)" "$(truth cold_begin)")" 200 1e9
check "hotcold: then it is gone" test "$(computes "$(truth cold_begin)" "$(truth cold_end)")" -eq 0
check "hotcold: then it is hot again, likewise" between "$(computes "$(truth cold_end)" "$(truth hot_end)")" 200 1e9

# --- sleeping in a known function ---

slept() { # FUNCTION: what the samples of blocked threads with it in their stack stand for
	sql "SELECT sum(weight_ns) FROM samples s JOIN $within w ON w.stack = s.stack
		WHERE $blocked AND w.name = '$1'"
}
record_oracle sleepers
check "sleepers: its JSON too, with wakers" sh -c "'$DWELL' report --json '$file' >'$work/json' &&
	tests/schema.py docs/report.schema.json '$work/json' && jq -e '[.stacks[].wakers[]?] | length > 0' '$work/json'"
share=$(awk -v a="$(slept known_sleeper)" -v b="$(truth known_sleeper)" 'BEGIN { print 100 * a / b }')
check "sleepers: known_sleeper slept for what it says, within 1 % ($share %)" between "$share" 99 101
# Shorter than --min-block: some are taken by chance, and stand for the rest.
share=$(awk -v a="$(slept known_dozer)" -v b="$(truth known_dozer)" 'BEGIN { print 100 * a / b }')
check "sleepers: known_dozer, by chance, within 25 % ($share %)" between "$share" 75 125
check "sleepers: their stacks are complete" is "SELECT count(*) FROM samples WHERE $blocked
	AND stop NOT IN $complete AND weight_ns > 20000000" 0
check "sleepers: the scheduler's own frames are cut" is "SELECT count(*) FROM $leaves WHERE $blocked
	AND leaf IN ('__schedule', 'finish_task_switch', 'bpf_trace_run1')" 0

# --- signals, the vdso, threads ---

record_oracle signals -F 997
check "signals: 99.5 % of its stacks, or more, are complete" between "$(percent "stop IN $complete")" 99.5 100
check "signals: a handler is seen with what it interrupted" is "SELECT count(*) > 0 FROM $within a
	JOIN $within b ON b.stack = a.stack WHERE a.name = 'known_handler' AND
	b.name IN ('known_clock_reader', 'known_thread', 'do_signals')" 1
check "signals: calls into the vdso have a name" is "SELECT count(*) > 0 FROM $leaves JOIN stacks t ON
	t.id = stack JOIN frames f ON f.id = t.frame JOIN modules m ON m.id = f.module
	WHERE m.path = '[vdso]' AND leaf LIKE '%clock_gettime%'" 1

# --- code that comes and goes ---

record_oracle dlopen -F 499
check "dlopen: within a second, 97 % of the samples or more are right" between "$(sql "SELECT 100.0 * sum(CASE WHEN leaf = 'known_in_plugin' AND
	stop IN $complete THEN count ELSE 0 END) / sum(count) FROM $leaves s JOIN windows w ON w.id = s.window
	WHERE $cpu AND begin_ns >= $(truth loaded) AND end_ns <= $(truth "done")")" 97 100
check "dlopen: its first second, too" is "SELECT count(*) > 0 FROM $leaves WHERE leaf = 'known_in_plugin'" 1

record_oracle reexec -F 499
check "reexec: 97 % of the stacks, or more, are complete" between "$(percent "stop IN $complete" "$cpu")" 97 100
check "reexec: 80 % of the samples, or more, are in known_compute" between "$(percent "leaf = 'known_compute'" "$cpu")" 80 100

# start COMMAND...: in the background, as $burner; what burns is its last descendant, $target
start() {
	"$@" >/dev/null 2>&1 &
	burner=$!
	for ((i = 0; i < 50; i++)); do
		target=$(pgrep -n -x burner) && ! grep -q '^State:.Z' "/proc/$target/status" && break
		sleep 0.1
	done
	sleep 0.3
}

# burns WHAT: $target is recorded from here, and known_compute is found
burns() {
	timeout 60 "$DWELL" record -F 499 -p "$target" -d 2 -o "$file" 2>"$work/err"
	kill -9 "$target" "$burner" 2>/dev/null
	wait "$burner" 2>/dev/null
	check "$1: 99 % of its stacks, or more, are complete" between "$(percent "stop IN $complete" "$cpu")" 99 100
	check "$1: 97 % of its samples, or more, are in known_compute" between "$(percent "leaf = 'known_compute'" "$cpu")" 97 100
}

cp "$oracle" "$work/burner"
start "$work/burner" burn
rm "$work/burner"
burns "a binary deleted while it runs"

cp "$oracle" "$work/burner"
start "$work/burner" orphan
burns "a process whose first thread has ended"

root=$work/root
mkdir -p "$root/bin"
cp "$oracle" "$root/bin/burner"
ldd "$oracle" | grep -o '/[^ ]*' | while read -r lib; do
	mkdir -p "$root$(dirname "$lib")"
	cp "$lib" "$root$lib"
done
start chroot "$root" /bin/burner burn
burns "in a chroot"

# shellcheck disable=SC2016 # for the shell inside
start unshare --mount --pid --fork --mount-proc sh -c \
	'mount -t tmpfs tmpfs /mnt && cp "$0" /mnt/burner && exec /mnt/burner burn' "$oracle"
burns "in a mount and pid namespace of its own"

# --- names from a root of somebody's own making ---

# names_of OWNER: of a program of root's own, whose debug file in its own root is this owner's
names_of() {
	# shellcheck disable=SC2016 # for the shell inside
	start unshare --mount sh -c 'mount -t tmpfs tmpfs /usr/lib/debug && mkdir -p "$1" &&
		cp "$2" "$1/$3.debug" && chown "$4" "$1/$3.debug" && exec "$0" burn' "$work/burner" \
		"/usr/lib/debug/.build-id/${id:0:2}" "$work/lies" "${id:2}" "$1"
	timeout 60 "$DWELL" record -F 499 -p "$target" -d 2 -o "$file" 2>"$work/err"
	kill -9 "$target" "$burner" 2>/dev/null
	wait "$burner" 2>/dev/null
	percent "leaf = 'known_lie'" "$cpu"
}

strip -o "$work/burner" "$oracle"
objcopy --redefine-sym known_compute=known_lie "$oracle" "$work/lies"
id=$(readelf -n "$oracle" | sed -n 's/.*Build ID: //p')
if [ -d /usr/lib/debug ] && [ -n "$id" ]; then
	check "a debug file of root's own names functions, in 97 % of the samples or more" between "$(names_of 0)" 97 100
	check "one that somebody else can write does not" between "$(names_of 65534)" 0 0
else
	echo "ok - debug files of others # SKIP there is no /usr/lib/debug, or the oracle has no build id"
fi

# --- short lives ---

record_oracle shortlived -F 1999
mayflies="pid IN (SELECT pid FROM processes WHERE parent = (SELECT pid FROM processes WHERE parent NOT IN
	(SELECT pid FROM processes) LIMIT 1))"
got=$(percent "leaf IS NOT NULL" "$mayflies AND $cpu")
check "shortlived: 90 % of the samples of 500 short processes have a name ($got)" between "$got" 90 100
got=$(percent "leaf = 'known_mayfly'" "$mayflies AND $cpu")
check "shortlived: 60 % or more are in known_mayfly ($got)" between "$got" 60 100
check "shortlived: there were enough of them" between "$(sql "SELECT sum(count) FROM samples WHERE $mayflies")" 1000 1e9
check "shortlived: the binary is one module" is "SELECT count(*) FROM modules WHERE path LIKE '%/oracle'" 1
finish
