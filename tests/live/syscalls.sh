#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# -s syscalls against a program that knows each of its calls: counts are exact, times are what it
# measured itself, directories are told and nothing that was looked for in them.
. tests/lib.sh
need_root

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
oracle=$TOOLS/workloads/oracle
file=$work/a.dwell
json=$work/a.json

# truth KEY: what the oracle said
truth() { awk -v key="$1" '$1 == key { print $2 }' "$work/truth"; }
# of KIND CALL WHAT FIELD: the sum over the series
of() {
	jq --arg kind "$1" --arg call "$2" --arg what "$3" "[.signals.syscalls[] | select(.kind == \$kind
		and .call == \$call and (.what // \"\") == \$what) | .$4] | add // 0" "$json"
}
is() { [ "$1" = "$2" ] || { echo "$1, not $2"; return 1; }; }
# near A B PERCENT
near() { awk -v a="$1" -v b="$2" -v p="$3" 'BEGIN { exit !(b > 0 && (a - b) ^ 2 <= (b * p / 100) ^ 2) }' || { echo "$1, not $2"; return 1; }; }

timeout 60 "$DWELL" run -q -s syscalls --stacks 1/20 -o "$file" -- "$oracle" calls >"$work/truth"
check "run -s syscalls succeeds" test $? -eq 0
"$DWELL" report --json "$file" >"$json"
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
check "and as long as the program saw it" near "$(of ok clock_nanosleep '' sum_ns)" "$(truth nanosleep_ns)" 2
check "calls and those by caller are as many" near "$(of caller getppid '' count)" "$(truth getppid)" 10
check "callers have names" jq -e '[.signals.syscalls[] | select(.kind == "caller" and .call == "dup")
	| .stack] | any(test("make_bad_calls"))' "$json"
check "nothing is unmatched" is \
	"$(jq '[.signals.syscalls[].unmatched | .orphan_start + .orphan_end + .expired] | add' "$json")" 0
check "the storm is told" jq -e '.remarks.syscalls | any(test("newfstatat is .* most in /nowhere/"))' "$json"
check "nothing was lost" is "$(sqlite3 "$file" 'SELECT total(count) FROM losses')" 0.0

# Of a program that runs already, the first call of each thread that ends had begun before.
dd if=/dev/zero of=/dev/null bs=1 2>/dev/null &
sleep 0.2
timeout 60 "$DWELL" record -q -d 1 -s syscalls --pid $! -o "$work/b.dwell"
kill $!
"$DWELL" report --json "$work/b.dwell" >"$json"
check "calls of a program that runs are counted" test "$(of ok read '' count)" -gt 100
check "and what had begun before is nobody's orphan" is \
	"$(jq '[.signals.syscalls[].unmatched | .orphan_start + .orphan_end] | add' "$json")" 0
finish
