#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dwell top in a terminal (tmux): lines, keys, sizes, a saved session; and however it ends, the terminal is as it was and
# nothing stays behind. What the screen costs is in top_cost.sh.
. tests/lib.sh
need_root
PATH=$PATH:/usr/sbin

command -v tmux >/dev/null || { skip "top in a terminal" "tmux is not installed"; exit 0; }
dwell=$(realpath "$DWELL")
oracle=$TOOLS/workloads/oracle
work=$(mktemp -d)
socket=dwelltop$$
loads=()
end() {
	tmux -L "$socket" kill-server 2>/dev/null
	kill "${loads[@]}" 2>/dev/null
	rm -rf "$work"
}
trap end EXIT

in_tmux() { tmux -L "$socket" "$@"; }
keys() { in_tmux send-keys -t top "$@"; }
screen() { in_tmux capture-pane -p -t top; }

# shows PATTERN [SECONDS]: the screen has a line of this pattern, or gets one
shows() {
	for _ in $(seq $((${2:-5} * 10))); do
		screen | grep -qE -- "$1" && return 0
		sleep 0.1
	done
	screen
	return 1
}
lacks() { ! screen | grep -E -- "$1"; }

# in the terminal; its pid is in $top
start_top() {
	rm -f "$work/ended"
	keys "clear; stty -a >before; $dwell top; echo \"status \$?\" >ended; stty -a >after" Enter
	shows '^(SERVICE|PROCESS|.SERVICE)' 20 && shows "[#!]" 20
	top=$(pgrep -x dwell -P "$shell" | head -1)
}
is_ended() {
	for _ in $(seq 80); do [ ! -s "$work/after" ] || return 0; sleep 0.1; done
	screen
	return 1
}
same_terminal() { diff "$work/before" "$work/after"; }

# programs_of PID: the ids of the BPF programs that it and its children hold
programs_of() {
	for pid in $(helpers_of "$1"); do grep -hs '^prog_id' /proc/"$pid"/fdinfo/*; done | awk '{ print $2 }' | sort -un
}
helpers_of() { # all of its processes, whatever they are called
	ps -e -o ppid=,pid= | awk -v top="$1" '{ parent[$2] = $1 } END {
		for (pid in parent) {
			for (at = pid; at > 1 && at != top; at = parent[at])
				;
			if (at == top)
				print pid
		}
	}'
}
# left_over PIDS PROGRAMS: what of them is there, and of the temporary folders; a zombie is not
left_over() {
	local pid
	for pid in $1; do
		! grep -q '^State:.[^Z]' "/proc/$pid/status" 2>/dev/null || echo "process $pid"
	done
	bpftool prog list -j | jq -r '.[].id' | grep -xF -- "$2" | sed 's/^/program /'
	ls -d "$work"/tmp/dwell-* 2>/dev/null
}
# nothing_left PIDS PROGRAMS: within 5 s, as the kernel removes programs in its own time
nothing_left() {
	local left
	for _ in $(seq 25); do
		sleep 0.2
		left=$(left_over "$@")
		[ -n "$left" ] || return 0
	done
	echo "still there: $left"
	return 1
}

# --- without a terminal ---
"$DWELL" top </dev/null >"$work/out" 2>&1
check "without a terminal top ends with 64 and names --batch, record and report" \
	sh -c "test $? -eq 64 && grep -q -- --batch '$work/out' && grep -q 'dwell record' '$work/out'"

cp "$oracle" "$work/topburn"
"$work/topburn" burn >/dev/null 2>&1 & loads+=($!)
hostile=$(printf 'ev\033[31mil中')
cp "$(command -v sleep)" "$work/$hostile"
"$work/$hostile" 1000 & loads+=($!)

"$DWELL" top --batch 2 --by process >"$work/batch" 2>"$work/err"
check "top --batch 2 succeeds" test $? -eq 0
check "it prints two refreshes as text" test "$(grep -c '^dwell top' "$work/batch")" -eq 2
check "which have the process that wants a CPU, with its pid and bar" grep -qE "^ *${loads[0]} topburn .*[#!]{5}" "$work/batch"
"$DWELL" top --batch 1 >/dev/full 2>"$work/err"
check "what cannot be written is told, with status 1" sh -c "test $? -eq 1 && grep -q 'cannot write' '$work/err'"
check "no byte of them is a control character" sh -c "! LC_ALL=C grep -q '[[:cntrl:]]' '$work/batch'"

# --- in a terminal ---
mkdir "$work/tmp"
in_tmux -f /dev/null new-session -d -s top -x 80 -y 24 -c "$work" \
	"env LANG=C.UTF-8 TMPDIR=$work/tmp TERM=screen-256color PS1='prompt ' bash --norc"
shell=$(in_tmux list-panes -t top -F '#{pane_pid}')
start_top
check "a line per service appears: topburn, which burns" shows '^topburn +1 +[0-9.]+ .*[#!]{3}' 10
check "the head tells CPUs, pressure, losses and own cost" \
	sh -c "$(declare -f screen in_tmux); socket=$socket; screen | grep -q 'CPUs\? [0-9]*% busy' && screen | grep -q '^pressure cpu .* lost [0-9,]* .*dwell itself'"
confined() {
	awk '$1 ~ /^(Uid|CapEff|NoNewPrivs|Seccomp):$/ { print $1 $2 }' "/proc/$1/status" | paste -sd' '
}
check "the process that shows has no privilege, and a filter" \
	test "$(confined "$(pgrep -x dwell-screen -P "$top")")" = "Uid:65534 CapEff:0000000000000000 NoNewPrivs:1 Seccomp:2"
keys t
check "t makes it a line per process" shows '^ +PID PROCESS'
keys n
check "n sorts by name, and marks the column" shows 'PID \^PROCESS'
sorted() { screen | sed -n '5,23p' | cut -c9-23 | sed 's/ *$//' | grep . | LC_ALL=C sort -c; }
check "so it is" sorted
keys u t
keys '/' ; keys topb; keys Enter
check "/ filters" sh -c "sleep 0.3; $(declare -f screen in_tmux); socket=$socket; test \"\$(screen | sed -n '5,23p' | grep -c .)\" = 1"
keys Enter
check "Enter opens the line: its states, ..." shows '^service topburn'
check "... its threads ..." shows '^ +[0-9]+ topburn +[0-9.]+ '
check "... and its stacks" shows '^ +[0-9.]+ cpu +do_burn|^ +[0-9.]+ cpu .*(burn|main)' 8
keys Enter
check "Enter on a thread opens it" shows '^thread topburn'
keys Escape
check "Esc goes back to the line" shows '^service topburn'
keys BSpace
check "and Backspace to the table" shows 'SERVICE.*CPU%'
keys '?'
check "? lists the keys" shows 'save the last minute'
keys x Escape
keys '/'; keys il; keys Enter
check "a hostile name is escaped, and a wide character is shown" shows '^ev\\x1b\[31mil中'
keys Escape
in_tmux resize-window -t top -x 200 -y 50
check "at 200x50 bars are longer" shows '^topburn .* [#!]{17}'
in_tmux resize-window -t top -x 60 -y 15
check "below 80x24 it says so" shows 'needs 80x24'
in_tmux resize-window -t top -x 80 -y 24
check "and comes back" shows 'SERVICE.*CPU%'
keys ' '
check "Space pauses" shows PAUSED
keys ' '

# --- saved ---
keys s
check "s saves what there is, and tells the name" shows '^saved [0-9]+ s: dwell-top-.*\.dwell' 8
sleep 1.2
keys s
saved_twice() { for _ in $(seq 80); do [ "$(ls "$work"/dwell-top-*.dwell | wc -l)" -eq 2 ] && shows '^saved [0-9]+ s: ' 8 && return 0; sleep 0.1; done; return 1; }
check "and once more, of two files" saved_twice
sleep 0.3
for file in "$work"/dwell-top-*.dwell; do
	name=$(basename "$file")
	"$DWELL" report "$file" >"$work/report" 2>&1
	check "report of $name: parts - wall = 0" grep -q 'parts - wall = 0 ns' "$work/report"
	check "report of $name: topburn is in it" grep -q topburn "$work/report"
	check "$name is not one of several files any more" test "$(sqlite3 "$file" \
		"SELECT count(*) FROM meta WHERE key IN ('rotate_ns', 'keep', 'file_number')")" = 0
done
one_recording() {
	python3 - "$@" <<-'END'
		import sqlite3, sys
		db = sqlite3.connect(sys.argv[1])
		one = lambda sql: db.execute(sql).fetchone()[0]
		windows = db.execute("SELECT id, begin_ns, end_ns FROM windows ORDER BY id").fetchall()
		assert all(a[0] + 1 == b[0] and a[2] == b[1] for a, b in zip(windows, windows[1:])), windows
		meta = dict(db.execute("SELECT key, value FROM meta"))
		assert int(meta["started_ns"]) == windows[0][1] and int(meta["ended_ns"]) >= windows[-1][2], meta
		assert "rotate_ns" not in meta and "file_number" not in meta
		bad = db.execute("""SELECT t.id, t.end_ns - t.begin_ns, sum(l.ns) FROM threads t JOIN ledger l ON l.thread = t.id
			GROUP BY 1 HAVING t.end_ns - t.begin_ns != sum(l.ns)""").fetchall()
		assert not bad, bad[:5]
		assert one("SELECT count(*) FROM threads WHERE comm = 'topburn'") == 1
		cpus = db.execute("""SELECT c.cpu, sum(c.ns) - (SELECT sum(end_ns - begin_ns) FROM windows) FROM cpus c
			GROUP BY 1""").fetchall()
		assert all(abs(left) < 50e6 for _, left in cpus), cpus
	END
}
check "the second is one recording without a gap: threads, windows, CPUs (50 ms)" \
	one_recording "$(printf '%s\n' "$work"/dwell-top-*.dwell | tail -1)"

rm -f "$(printf '%s\n' "$work"/dwell-top-*.dwell | head -1)" # one is enough for what follows

# --- ends ---
all=$(helpers_of "$top") programs=$(programs_of "$top")
check "programs are loaded while it runs" test -n "$programs"
rm -f "$work/after"; keys q
check "q ends it" is_ended
check "with status 0" grep -qx 'status 0' "$work/ended"
check "the terminal is as it was" same_terminal
check "the names of the sessions are on the screen" shows "dwell report dwell-top-"
check "after q nothing is left" nothing_left "$all" "$programs"
for signal in TERM KILL; do
	rm -f "$work/after"
	start_top
	all=$(helpers_of "$top") programs=$(programs_of "$top")
	kill -$signal "$top"
	check "$signal: it ends" is_ended
	check "$signal: the terminal is as it was" same_terminal
	check "$signal: the cursor is visible, and the normal screen" \
		test "$(in_tmux display-message -p -t top '#{cursor_flag}#{alternate_on}')" = 10
	check "$signal: nothing stays attached, running or in the temporary folder" nothing_left "$all" "$programs"
done
rm -f "$work/after"
start_top
kill -KILL "$(pgrep -x dwell-screen -P "$top")"
check "the process that shows is killed: top ends" is_ended
check "and restores the terminal" same_terminal
check "and the screen" test "$(in_tmux display-message -p -t top '#{cursor_flag}#{alternate_on}')" = 10

# --- for somebody else ---
# Files of the recording are theirs: a link in the place of one leads nowhere that they may not read.
mkdir -p "$work/theirs/tmp"
chmod 755 "$work"
chown -R 65534:65534 "$work/theirs"
(umask 077 && echo 'not for them' >"$work/secret")
rm -f "$work/after"
keys "clear; (cd theirs && SUDO_UID=65534 SUDO_GID=65534 TMPDIR=$work/theirs/tmp $dwell top); stty -a >after" Enter
check "behind sudo lines appear" shows '^topburn +1 ' 20
ln -sf "$work/secret" "$work"/theirs/tmp/dwell-*/top.0001.dwell
keys s
check "a file of the recording that they may not read is not saved, and that is told" shows '^cannot (save|read)' 8
check "nor is anything of it copied" sh -c "! grep -rqs 'not for them' '$work/theirs'"
keys q
check "what went wrong is printed when the terminal is free" sh -c "$(declare -f is_ended screen in_tmux); work=$work socket=$socket; is_ended && screen | grep -q '^dwell: cannot'"
finish
