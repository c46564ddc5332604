#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What each process of dwell can still do: its capabilities, its seccomp filter, and calls that a
# hostile file might make it try. Those are refused and reported, and the measurement goes on.
. tests/lib.sh
need_root

work=$(mktemp -d)
dwell=
# shellcheck disable=SC2317 # the trap calls it
clean_up() {
	[ -z "$dwell" ] || kill "$dwell" 2>/dev/null
	rm -rf "$work"
}
trap clean_up EXIT
FORBIDDEN=$TOOLS/dwell-forbidden

# --- /proc/PID/status ---

# field PID NAME
field() { awk -v name="$2:" '$1 == name { print $2 }' "/proc/$1/status"; }
# is PID NAME VALUE
is() {
	local value
	value=$(field "$1" "$2")
	echo "$2 of $1 is ${value:-not there}"
	[ "$value" = "$3" ]
}
NONE=0000000000000000
# kill, setgid, setuid, dac_read_search, sys_ptrace, sys_admin, syslog, perfmon, bpf
MEASURING=000000c4002800e4
# dac_read_search, sys_ptrace, checkpoint_restore
OPENING=0000010000080004
SPAWNING=00000100000800e4

threads_have_none() {
	local task
	for task in "/proc/$1"/task/*; do
		[ "${task##*/}" = "$1" ] || [ "$(awk '$1 == "CapEff:" { print $2 }' "$task/status")" = $NONE ] || return 1
	done
}
# confined PID WHO: what holds for every process
confined() {
	check "$2: a seccomp filter" is "$1" Seccomp 2
	check "$2: no new privileges" is "$1" NoNewPrivs 1
	check "$2: nothing to inherit" is "$1" CapInh $NONE
}

# The state of a command before dwell: what it has under dwell has to be the same.
state() { grep -E '^(Cap|NoNewPrivs|Seccomp)' /proc/self/status; }
state >"$work/before"
"$DWELL" run -q -o "$work/a.dwell" -- bash -c "grep -E '^(Cap|NoNewPrivs|Seccomp)' /proc/self/status >$work/inside
	: >$work/ready; sleep 3" &
dwell=$!
for _ in $(seq 200); do [ ! -e "$work/ready" ] || break; sleep 0.1; done
spawner=$(helpers_of $dwell spawner) opener=$(helpers_of $dwell opener)
check "there are four processes beside dwell's own" test "$(helpers_of $dwell | wc -l)" -eq 4
confined "$spawner" spawner
check "spawner: the capabilities that the others begin with" is "$spawner" CapPrm $SPAWNING
confined "$opener" opener
check "opener: the capabilities that it needs" is "$opener" CapPrm $OPENING
confined "$dwell" "privileged process"
check "privileged process: the capabilities that it needs" is "$dwell" CapPrm $MEASURING
check "privileged process: no other in force" is "$dwell" CapEff $MEASURING
check "privileged process: its other threads have none" threads_have_none "$dwell"
for name in ingest symbolize; do
	pid=$(helpers_of $dwell $name)
	confined "$pid" $name
	check "$name: no capability" is "$pid" CapPrm $NONE
	check "$name: none in force" is "$pid" CapEff $NONE
	check "$name: no privileged user" is "$pid" Uid 65534
done
check "the command is as it was without dwell" diff "$work/before" "$work/inside"
wait $dwell
check "the measurement was complete" test $? -eq 0
dwell=

# A session in a folder of another user: only then dwell keeps the right to write there.
mkdir "$work/theirs"
chown 65534 "$work/theirs"
chmod 755 "$work/theirs"
check "a session in a folder of another user" env -u SUDO_UID "$DWELL" run -q -o "$work/theirs/b.dwell" -- true
check "its -wal is gone" test ! -e "$work/theirs/b.dwell-wal"
check "the session is there" test -s "$work/theirs/b.dwell"

# --- calls that are refused ---

# refuses WHO CALL...: each call is reported of it, once, in $work/told
refuses() {
	local who=$1 call
	shift
	for call in "$@"; do
		[ "$(grep -c "the $who tried the system call $call, which its sandbox refuses" "$work/told")" -eq 1 ] ||
			{ cat "$work/told"; return 1; }
	done
}
is_complete() { "$DWELL" report "$1" | grep -q 'lost 0'; }
try() { DWELL_TEST_FORBIDDEN=$1 "$FORBIDDEN" "${@:2}" >"$work/out" 2>"$work/told"; }

ALL=open,socket,exec,ptrace
check "run with processes that misbehave" try parser:$ALL run -o "$work/c.dwell" -- "$TOOLS/workloads/oracle" threads
check "ingest is refused, and reported" refuses "ingest process" openat socket execve ptrace
check "the symbolizer, too" refuses "symbolizer process" openat socket execve ptrace
check "who reads the session, too" refuses "process that reads the session" openat socket execve ptrace
check "the measurement went on" is_complete "$work/c.dwell"
check "report with a process that misbehaves" try parser:$ALL report "$work/c.dwell"
check "it is refused, and reported" refuses "process that reads the session" openat socket execve ptrace
check "the report is whole" grep -q 'WHERE THE TIME WENT' "$work/out"
check "export, too" try parser:$ALL export -f folded "$work/c.dwell"
check "it is refused, and reported" refuses "process that reads the session" openat socket execve ptrace
check "the doctor, too" try parser:$ALL doctor
check "its worker is refused, and reported" refuses "worker process" openat socket execve ptrace
check "run with a privileged process that misbehaves" \
	try privileged:exec,module,mount,ptrace run -o "$work/d.dwell" -- true
check "it is refused, and reported" refuses "privileged process" execve init_module mount ptrace
check "who starts others is refused too, and reported" refuses "process that starts others" execve init_module mount ptrace
check "the measurement went on" is_complete "$work/d.dwell"
check "run with an opener that misbehaves" \
	try opener:socket,exec,module,mount,ptrace run -o "$work/g.dwell" -- "$TOOLS/workloads/oracle" threads
check "it is refused, and reported" refuses "process that opens files" socket execve init_module mount ptrace
check "the measurement went on" is_complete "$work/g.dwell"

ignores_it() {
	DWELL_TEST_FORBIDDEN=parser:$ALL "$DWELL" run -q -o "$work/e.dwell" -- true >"$work/told" 2>&1
	! grep 'tried the system call' "$work/told" && ! grep -q DWELL_TEST_FORBIDDEN "$DWELL"
}
check "the product does not know of it" ignores_it

# --- nothing that is needed is refused ---

# quiet WHAT COMMAND...: no call of any process was refused
quiet() {
	"${@:2}" >"$work/out" 2>"$work/told" || :
	check "$1: nothing is refused" test "$(grep -c 'which its sandbox refuses' "$work/told")" -eq 0
}
quiet "run" "$DWELL" run -- sleep 0.2
quiet "all kinds of signals and lines" "$DWELL" record -o "$work/f.dwell" --tier B --lines --inline \
	-s runq,block,tcp,locks,files,syscalls,faults,alloc --live --force -- "$TOOLS/workloads/oracle" threads
quiet "trace" "$DWELL" trace -u "$TOOLS/workloads/oracle:main" --slow 1us --by stack -- "$TOOLS/workloads/oracle" threads
quiet "doctor" "$DWELL" doctor --json
for format in folded pprof speedscope svg; do
	quiet "export -f $format" "$DWELL" export -f $format "$work/f.dwell"
done
for options in "" --json --stacks "--why blocked" --histograms; do
	# shellcheck disable=SC2086 # options are words
	quiet "report $options" "$DWELL" report $options "$work/f.dwell"
done
finish
