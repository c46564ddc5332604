#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# "Run again" of a report is the whole command: run as it is printed, it makes a session with the same options.
. tests/lib.sh
need_root
mount_tracefs

work=$(mktemp -d)
chmod 755 "$work"
sleep 300 &
sleeper=$!
end() {
	kill "$sleeper" 2>/dev/null
	rm -rf "$work"
}
trap end EXIT
ORACLE=$(realpath "$TOOLS/workloads/oracle")
PATH=$(dirname "$ORACLE"):$PATH # of a command the name is kept, not its path

# What shapes a measurement; without --seed its seed is another each time.
options_of() {
	sqlite3 "$1" "SELECT key, value FROM meta WHERE key GLOB 'option.*' OR key IN ('kind', 'command', 'tier', 'filter',
		'duration_ns', 'max_overhead', 'freq', 'min_block_ns', 'stack_one_in', 'no_stacks', 'lines', 'inline',
		'signals', 'slow_ns', 'pair_limit_ns', 'server_model', 'alloc_every', 'alloc_kernel_bytes', 'alloc_live', 'alloc_force')
		OR (key = 'seed' AND EXISTS (SELECT 1 FROM meta WHERE value GLOB '--seed *')) ORDER BY key"
}

# The command that a report prints, in one line, without what is before dwell's own name.
printed() {
	"$DWELL" report "$1" | awk '/^Run again: / { on = 1; sub(/^Run again: sudo dwell /, "") }
		on { is_open = sub(/ \\$/, " "); sub(/^ +/, ""); printf "%s", $0; if (!is_open) exit }'
}

# again NAME ARGS OPTIONS...: ARGS is for … after a command's name; OPTIONS are of dwell, with its sub-command
again() {
	local args=$2 first=$work/$1.1.dwell second=$work/$1.2.dwell kind=$3 line
	shift 3
	timeout 60 "$DWELL" "$kind" -q -o "$first" --note "not an option" "$@" >/dev/null 2>"$work/err" || { cat "$work/err"; return 1; }
	line=$(printed "$first")
	echo "printed: $line"
	line=${line/%…/$args}
	! grep -q "$kind -o" <<<"$line" || return 1
	# What a shell makes of it is what a person gets.
	eval "set -- $line" || return 1
	shift
	timeout 60 "$DWELL" "$kind" -q -o "$second" --note "not an option" "$@" >/dev/null 2>"$work/err" || { cat "$work/err"; return 1; }
	options_of "$first" >"$work/1"
	options_of "$second" >"$work/2"
	[ "$(wc -l <"$work/1")" -ge 8 ] && diff "$work/1" "$work/2"
}

check "run, as it is" again run-plain "traced-calls" run -- "$ORACLE" traced-calls
check "run, with signals and stacks" again run-signals "0.1" run -s syscalls,runq,requests --server-model loop --stacks 1/7 --slow 3ms -F 97 \
	--min-block 2ms --seed 12345 --pair-limit 2s -- sleep 0.1
check "run, Tier A, without stacks" again run-bare "0.1" run --tier A --no-stacks --max-overhead 90% -- sleep 0.1
check "run -s alloc" again run-alloc "0.1" run -s alloc --alloc-every 4K --kernel=128K --live --force --lines --inline \
	-- sleep 0.1
check "record -a" again record-all "" record -a -d 500ms
check "record -a, with options" again record-more "" record --all --duration 0.5s --tier B -s block,tcp --max-overhead 80% \
	--freq 0 --no-stacks
check "record -p" again record-pid "" record -d 300ms -p "$sleeper",$$ --min-block 100us
check "record by name, file and user" again record-by "" record -d 300ms --comm "a b'c" --exe "$ORACLE" --uid root
check "record, a command" again record-command "0.1" record -F 49 -- sleep 0.1
check "trace -u" again trace-user "traced-calls" trace -u "$ORACLE:traced_sleep" --by comm --limit 3 --count -- \
	"$ORACLE" traced-calls
check "trace --from --to" again trace-span "traced-span" trace --from "u:$ORACLE:traced_read" --to "u:$ORACLE:traced_write" \
	--key arg1 --slow 1ms -- "$ORACLE" traced-span
check "trace -t, of a process" again trace-pid "" trace -t 'sched:sched_process_*' -p "$sleeper" -d 300ms --no-classes
check "trace -t, of all" again trace-all "" trace -t syscalls:sys_enter_openat -d 300ms --max-overhead 50%

# Too long for one row of the session: several, which add up.
many=$(for _ in $(seq 150); do printf '%s,' "$sleeper"; done)
check "a long list of processes" again record-list "" record -d 300ms -p "${many%,}"

# What a command is given is nobody's business; nor is its environment.
secret=hunter2$$
private() {
	SECRET_ENV=$secret timeout 60 "$DWELL" run -q -o "$work/s.dwell" -- sh -c "sleep 0.1 # $secret" &&
		! grep -aq "$secret" "$work/s.dwell"
}
check "no argument and no environment of a command is kept" private
finish
