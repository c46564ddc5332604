#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dwell run --dry-run and record --dry-run: the plan on stdout, nothing attached; what it says comes true.
. tests/lib.sh
need_root

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
plan=$work/plan
options=(-a -s 'runq,block,tcp' --no-stacks)

timeout 30 "$DWELL" record --dry-run "${options[@]}" -o "$work/not.dwell" >"$plan" 2>"$work/err"
check "record --dry-run succeeds" test $? -eq 0
check "it prints the plan on stdout" grep -q '^The plan of this measurement' "$plan"
check "and nothing on stderr" test ! -s "$work/err"
check "it writes no session" test ! -e "$work/not.dwell"
check "it fits 80 columns" sh -c "! grep -E '^.{81}' '$plan'"
check "it names the tasks and the tier" sh -c "grep -q 'every task of the host' '$plan' && grep -q 'A: the scheduler only' '$plan'"
check "each hook has its name" sh -c "! grep -E '/(,| *$)' '$plan'"
check "each signal has its expected cost" grep -q '^tcp  *cheap: about .* us per connection' "$plan"

timeout 30 "$DWELL" run --dry-run -- sh -c "touch $work/ran" >"$work/run" 2>&1
check "run --dry-run succeeds" test $? -eq 0
check "the command is not run" test ! -e "$work/ran"
check "it has Tier B's hooks" grep -q 'calls_enter  *tp_btf/sys_enter' "$work/run"
timeout 30 setpriv --reuid 65534 --clear-groups "$DWELL" run --dry-run -- true >"$work/user" 2>&1
check "without privileges it says so, with status 77" test $? -eq 77
check "and prints no plan" sh -c "grep -q 'cannot make a plan' '$work/user' && ! grep -q '^The plan' '$work/user'"
timeout 30 "$DWELL" run --dry-run --tier A -s syscalls -- true >"$work/refused" 2>&1
check "what cannot be measured is refused, with status 77" test $? -eq 77

# What it says comes true: the same options, measured. (A hook may be refused at its load only.)
timeout 60 "$DWELL" record "${options[@]}" -d 1 -o "$work/a.dwell" 2>"$work/err"
check "the same is measured" test $? -eq 0
hooks() { # of the plan, as it says that they are attached; iterators that had nothing to do are in no session
	sed -n 's/^  \([a-z_0-9]*\)  *\(.*\)/\1 \2/p' "$plan" | grep -E '(tp_btf|raw_tp|fentry|fexit|kprobe)/|perf event' |
		grep -v ', if ' | cut -d' ' -f1 | sort -u
}
sqlite3 "$work/a.dwell" 'SELECT DISTINCT hook FROM hooks' | sort >"$work/there"
sqlite3 "$work/a.dwell" 'SELECT DISTINCT hook FROM hooks WHERE NOT attached' | sort >"$work/failed"
hooks >"$work/planned"
check "there are hooks in the plan ($(wc -l <"$work/planned"))" test "$(wc -l <"$work/planned")" -gt 30
check "each hook of the plan is attached, or its failure is told" \
	sh -c "test -z \"\$(comm -23 '$work/planned' '$work/there')\" || { comm -23 '$work/planned' '$work/there'; false; }"
unplanned() { # attached, and not in the plan as such: fallbacks of those that failed at their load
	sqlite3 "$work/a.dwell" "SELECT hook FROM hooks WHERE attached AND fallback_of IS NULL" | sort |
		comm -23 - "$work/planned" | grep -vE '_(seed|rows|ask|turn)$'
}
check "no hook is attached that the plan does not name" sh -c "test -z '$(unplanned)'"

# The plan has two digits: 51 MiB is 50.5 to 51.5.
foreseen() { sed -n 's/^Memory: \([0-9.]*\) MiB in the kernel.*/\1/p' "$plan"; }
charged=$(sqlite3 "$work/a.dwell" 'SELECT max(map_bytes) FROM overhead')
check "memory is what the kernel charges: $(foreseen) MiB, $charged bytes (within 3 %)" \
	awk -v a="$(foreseen)" -v b="$charged" 'BEGIN { b /= 1048576; exit !(a > 0 && a > 0.97 * b && a < 1.03 * b) }'
# Without a PMU that is the reason, and not a kernel that lacks a hook.
check "a perf event is not called a missing hook" sh -c "! '$DWELL' record -a --dry-run | grep -A3 '^  sample_c' | grep 'no such hook'"
finish
