#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Signals against the classic tools, on the same load at the same time: counts within 0.1 %. What is
# not installed, or cannot run here, is skipped, and said so; dwell runs in any case.
# timing: the tools beside dwell have 2.5 s to attach, and miss what comes before
. tests/lib.sh
need_root
. tests/signals.sh
PATH=$PATH:/usr/sbin

# beside TOOL COMMAND...: starts it, its output in $work/tool; 1 if it does not last a moment
beside() {
	"$@" >"$work/tool" 2>&1 &
	tool=$!
	sleep 2.5
	kill -0 $tool 2>/dev/null || { wait $tool; return 1; }
}
tool_ends() {
	kill -INT $tool
	wait $tool 2>/dev/null
}

# can NAME: is it there?
can() { command -v "$1" >/dev/null || { skip "$1" "not installed"; return 1; }; }

# agree NAME OURS THEIRS: to within 0.1 %, or five: they also have what a process did before its exec. A tool that
# counted nothing agrees with nothing.
agree() {
	check "$1: $2 and ${3:-no count} agree" agrees "$2" "${3:-0}"
}
agrees() {
	[ "$2" -gt 0 ] && within "$1" "$2" "$(awk -v n="$2" 'BEGIN { by = n / 1000; if (by < 5) by = 5; print by }')"
}

# why: what it said, as short as can be
why() { { grep -iE -m 1 'unable|fail|error|cannot' "$work/tool" || head -1 "$work/tool"; } | cut -c1-80; }

# --- system calls ---

if can bpftrace; then
	if beside bpftrace -e 'tracepoint:raw_syscalls:sys_exit /comm == "oracle"/ { @[pid, args->id] = count() }'; then
		measure syscalls calls
		tool_ends
		pid=$(jq '[.signals.syscalls[] | select(.call == "getppid")][0].pid' "$json")
		for call in 110:getppid 32:dup 262:newfstatat 230:clock_nanosleep; do # as x86-64 numbers them
			agree "bpftrace, ${call#*:}" "$(sum syscalls ".pid == $pid and .kind != \"not_found\"
				and .call == \"${call#*:}\"" count)" \
				"$(sed -n "s/^@\[$pid, ${call%:*}\]: //p" "$work/tool")"
		done
	else
		skip "bpftrace" "$(why)"
	fi
fi
for syscount in syscount-bpfcc syscount; do
	can $syscount || continue
	if beside $syscount -P -T 1000; then
		measure syscalls calls
		tool_ends
		pid=$(jq '[.signals.syscalls[] | select(.call == "getppid")][0].pid' "$json")
		agree "$syscount" "$(sum syscalls ".pid == $pid and (.kind == \"ok\" or .kind == \"error\")" count)" \
			"$(awk -v pid="$pid" '$1 == pid { print $NF }' "$work/tool")"
	else
		skip "$syscount" "$(why)"
	fi
done

# It cannot follow calls as fast as these come: where a load is slower, it has all of them.
if can perf; then
	if perf trace -m 64M -s -o "$work/perf" -- "$DWELL" run -q -s syscalls -o "$file" -- "$oracle" herd \
		>"$work/tool" 2>&1; then
		"$DWELL" report --json "$file" >"$json"
		agree "perf trace -s" "$(sum syscalls '.call == "futex" and (.kind == "ok" or .kind == "error")
			and .comm == "oracle"' count)" \
			"$(awk '/ events, / { ours = $1 == "oracle" } ours && $1 == "futex" { sum += $2 } END { print sum }' \
				"$work/perf")"
	else
		skip "perf trace" "$(why)"
	fi
fi

# --- waits for a CPU ---

for runqlat in runqlat-bpfcc runqlat; do
	can $runqlat || continue
	if beside $runqlat -P; then
		measure runq herd
		tool_ends
		pid=$(jq '[.signals.runq[] | select(.comm == "oracle")][0].pid' "$json")
		agree "$runqlat" "$(sum runq ".pid == $pid" count)" "$(awk -v pid="$pid" '
			/^ *pid = / { ours = $3 == pid } ours && $2 == "->" { sum += $5 } END { print sum + 0 }' "$work/tool")"
	else
		skip "$runqlat" "$(why)"
	fi
done
finish
