#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dwell run as it is typed: the command's output and exit status are its own, the report is readable.
. tests/lib.sh
need_root

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# exits STATUS COMMAND...
exits() {
	local expected=$1 status
	shift
	timeout 60 "$@" >"$work/out" 2>"$work/err"
	status=$?
	[ "$status" -eq "$expected" ] || { echo "exit $status: $(cat "$work/err")"; return 1; }
}
says() { exits "$1" "${@:3}" && grep -qF -- "$2" "$work/err"; }
# Columns, not bytes: stacks have arrows in them.
fits_80_columns() {
	python3 -c 'import sys
lines = [line for line in open(sys.argv[1], encoding="utf-8").read().split("\n") if len(line) > 80]
print(*lines, sep="\n")
sys.exit(bool(lines))' "$work/err"
}

check "run -- true works" says 0 "parts - wall = 0 ns" "$DWELL" run -- true
check "its report has no line beyond 80 columns" fits_80_columns
check "and nothing in it is alarmed" no_alarm "$work/err"
check "the exit status passes through" exits 42 "$DWELL" run -q -- sh -c 'exit 42'
# shellcheck disable=SC2016 # $$ is that of the shell inside
check "a signal is 128 + its number" exits 137 "$DWELL" run -q -- sh -c 'kill -9 $$'
check "the command's output passes through" exits 0 "$DWELL" run -- echo hi
check "and stdout is the command's alone" test "$(cat "$work/out")" = hi
check "a command that is not there is 127" says 127 "/no/such/thing" "$DWELL" run -- /no/such/thing
check "and there is no report of it" test "$(wc -l <"$work/err")" -eq 1
check "nor of one that may not be run" says 127 "Permission denied" "$DWELL" run -- /etc/passwd
check "a command is looked for in PATH" exits 127 env PATH=/nowhere "$(realpath "$DWELL")" run -- true
check "no command is wrong usage" exits 64 "$DWELL" run
check "own pid namespace: the same" says 0 "parts - wall = 0 ns" unshare --pid --fork "$DWELL" run -- sleep 0.1
finish
