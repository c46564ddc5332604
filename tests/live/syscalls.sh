#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# -s syscalls against a program that knows each of its calls: counts are exact, times are what it
# measured itself, directories are told and nothing that was looked for in them.
# timing: sleeps are compared with the program's own clock
. tests/lib.sh
need_root
. tests/signals.sh

# of KIND CALL WHAT FIELD
of() { sum syscalls ".kind == \"$1\" and .call == \"$2\" and (.what // \"\") == \"$3\"" "$4"; }

measure syscalls calls --stacks 1/20
check "each call that succeeded is counted" is "$(of ok getppid '' count)" "$(truth getppid)"
check "each that failed is, by its error" is "$(of error dup EBADF count)" "$(truth dup)"
check "none of them as another" is "$(of ok dup '' count)$(of error getppid '' count)" 00
check "each look-up in vain is" is "$(of error newfstatat ENOENT count)" "$(truth newfstatat)"
half=$(($(truth newfstatat) / 2))
check "half of them by their directory" is "$(of not_found newfstatat /nowhere/ count)" $half
check "a quarter by another" is "$(of not_found newfstatat /nowhere/./ count)" $((half / 2))
check "a quarter by a deep one" is \
	"$(of not_found newfstatat /nowhere/deep/er/and/deeper/still/ count)" $((half / 2))
check "what was looked for there is not in the session" is "$(grep -c abcdefgh "$file")" 0
check "each sleep is counted" is "$(of ok clock_nanosleep '' count)" "$(truth nanosleep)"
check "and as long as the program saw it" near "$(of ok clock_nanosleep '' sum_ns)" "$(truth nanosleep_ns)"
check "those by caller are as many" within "$(of caller getppid '' count)" "$(truth getppid)" \
	$(($(truth getppid) / 10))
check "callers have names" jq -e '[.signals.syscalls[] | select(.kind == "caller" and .call == "dup")
	| .stack] | any(test("make_bad_calls"))' "$json"
check "the storm is told" says syscalls "fail, most in /nowhere/"

# A server whose plugin is in the last of 16 places, for each of 1,000 requests
measure syscalls plugin
check "each place is asked once for each request" jq -e '[.signals.syscalls[] | select(.kind == "not_found"
	and .call == "openat" and .count >= 1000)] | length == 15 and all(.[]; .count <= 1001)' "$json"
check "the storm is told" says syscalls " directories, such as /tmp/dwell-oracle-"

# Of a program that runs already, the first call of each thread that ends had begun before.
dd if=/dev/zero of=/dev/null bs=1 2>/dev/null &
sleep 0.2
timeout 60 "$DWELL" record -q -d 1 -s syscalls --pid $! -o "$work/b.dwell"
kill $!
"$DWELL" report --json "$work/b.dwell" >"$json"
check "calls of a program that runs are counted" test "$(of ok read '' count)" -gt 1000
check "and what had begun before is nobody's orphan" is \
	"$(sum syscalls true 'unmatched | .orphan_start + .orphan_end')" 0
finish
