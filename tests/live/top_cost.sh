#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timing: it compares CPU times of processes, which neighbours on the same CPUs change
# What dwell top costs beyond 'dwell record -a', with 200 processes that wake up 20 times a second: at most 1 % of a core.
# Here that is the CPU time of the processes that record does not have: the screen, and the one that started both. With
# TOP_COST_ROUNDS=N, as in make check-long, it is also the difference of all processes of both commands, in N rounds.
. tests/lib.sh
need_root

command -v tmux >/dev/null || { skip "the cost of top" "tmux is not installed"; exit 0; }
dwell=$(realpath "$DWELL")
rounds=${TOP_COST_ROUNDS:-0}
seconds=$((rounds ? 20 : 8))
work=$(mktemp -d)
socket=dwelltopcost$$
end() {
	tmux -L "$socket" kill-server 2>/dev/null
	[ -z "$load" ] || kill -- -"$load" 2>/dev/null
	rm -rf "$work"
}
trap end EXIT

setsid python3 -c '
import os, time
for _ in range(200):
    if os.fork() == 0:
        break
while True:
    time.sleep(0.05)
' & load=$!

# tree PID: it and its descendants
tree() {
	ps -e -o ppid=,pid= | awk -v top="$1" '{ parent[$2] = $1 } END {
		for (pid in parent) {
			for (at = pid; at > 1 && at != top; at = parent[at])
				;
			if (at == top)
				print pid
		}
	}'
}
# ticks PIDS: user and system time of these, in hundredths of a second
ticks() {
	local sum=0 pid stat
	for pid in $1; do
		stat=$(cat "/proc/$pid/stat" 2>/dev/null) || continue
		stat=${stat##*) }
		set -- $stat
		sum=$((sum + ${12} + ${13}))
	done
	echo "$sum"
}
# in_terminal COMMAND: in a terminal of 120x40; its pid is in $pid
in_terminal() {
	tmux -L "$socket" -f /dev/null new-session -d -x 120 -y 40 "cd $work && exec $1"
	pid=$(tmux -L "$socket" list-panes -F '#{pane_pid}')
	sleep 5 # what the start takes is no part of it
}
leave() {
	kill -TERM "$pid"
	for _ in $(seq 50); do [ -e "/proc/$pid" ] || break; sleep 0.1; done
	tmux -L "$socket" kill-server 2>/dev/null
	sleep 0.5
}
# percent TICKS: of one core
percent() { awk -v ticks="$1" -v seconds="$seconds" 'BEGIN { printf "%.2f", ticks / seconds }'; }

in_terminal "$dwell top"
shown="$pid $(pgrep -x dwell-screen -P "$pid")"
check "top runs, with a screen" test "$(wc -w <<<"$shown")" -eq 2
before=$(ticks "$shown")
sleep "$seconds"
extra=$(percent $(($(ticks "$shown") - before)))
leave
check "the screen costs $extra % of a core with 200 processes: at most 1 %" \
	awk -v extra="$extra" 'BEGIN { exit !(extra <= 1) }'

# Keys are answered by the process that shows, whatever the others do.
slowest_key() {
	python3 - "$dwell" <<-'END'
		import os, pty, select, sys, time
		pid, terminal = pty.fork()
		if pid == 0:
		    os.environ["TERM"] = "xterm-256color"
		    os.execv(sys.argv[1], ["dwell", "top"])
		def read_until(text, seconds):
		    end, got = time.monotonic() + seconds, b""
		    while text not in got and time.monotonic() < end:
		        if select.select([terminal], [], [], 0.01)[0]:
		            got += os.read(terminal, 65536)
		    return text in got
		if not read_until(b"SERVICE", 20):
		    sys.exit("no table")
		slowest = 0
		for _ in range(12):
		    read_until(b"never", 0.23) # so that some come when a window ends
		    begin = time.monotonic()
		    os.write(terminal, b"?")
		    if not read_until(b"Backspace", 5):
		        sys.exit("no help")
		    slowest = max(slowest, time.monotonic() - begin)
		    os.write(terminal, b"x")
		os.write(terminal, b"q")
		try:
		    while os.read(terminal, 65536):
		        pass
		except OSError:
		    pass # it has closed it
		os.waitpid(pid, 0)
		print(round(slowest * 1000))
	END
}
slowest=$(slowest_key)
check "the slowest of 12 keys is answered after $slowest ms: at most 100 ms" test "${slowest:-1000}" -le 100

total() { # COMMAND: all of its processes, over the time
	local pids before
	in_terminal "$1"
	pids=$(tree "$pid")
	before=$(ticks "$pids")
	sleep "$seconds"
	echo $(($(ticks "$pids") - before))
	leave
}
differences=()
for round in $(seq "$rounds"); do
	record=$(total "$dwell record -a -q -o $work/x.dwell") top=$(total "$dwell top")
	echo "# round $round: record $(percent "$record") %, top $(percent "$top") % of a core"
	differences+=($((top - record)))
done
if [ "$rounds" -gt 0 ]; then
	median=$(printf '%s\n' "${differences[@]}" | sort -n | sed -n "$(((rounds + 1) / 2))p")
	check "top costs $(percent "$median") % of a core more than record -a, the median of $rounds rounds: at most 1 %" \
		test "$median" -le "$seconds"
fi
rm -f "$work"/*.dwell
finish
