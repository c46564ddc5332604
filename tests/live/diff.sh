#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timing: compares measured times of runs that follow each other
#
# `dwell diff` of a real program that knows its truth: the same twice, then with a lock that is held 5 ms longer and one
# more look-up per request. tests/diff_pairs.sh does the same many times.
. tests/lib.sh
need_root

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ORACLE=$TOOLS/workloads/oracle
SECONDS_A_RUN=10

# record NAME [VARIABLE=VALUE]...: with real-time priority, so that what else runs here does not delay it
record() {
	SERVICE_SECONDS=$SECONDS_A_RUN timeout 60 env "${@:2}" "$DWELL" run -q -o "$work/$1.dwell" -- chrt -f 10 "$ORACLE" service \
		>"$work/$1.truth" 2>"$work/$1.err" || { cat "$work/$1.err"; return 1; }
}
compare() { timeout 60 "$DWELL" diff --json "$@" >"$work/out.json" 2>"$work/err" || { cat "$work/err"; return 1; }; }
# holds FILTER: of the comparison; else its verdict is shown
holds() { jq -e "$1" "$work/out.json" >/dev/null || { jq -c '.verdict, .warnings, .summary' "$work/out.json"; return 1; }; }
line() { echo "[.lines[] | select(.table == \"$1\" and .name == \"$2\" and .measure == \"$3\" and .process == \"oracle\")][0]"; }

check "a service is recorded" record a
check "and again" record same
check "and with a lock that is held longer, and more look-ups" record changed SERVICE_HOLD_MS=5 SERVICE_LOOKUPS=1
check "the same twice" compare "$work/a.dwell" "$work/same.dwell"
check "no line is called changed" holds '.summary.changed == 0'
check "JSON follows its schema" tests/schema.py docs/diff.schema.json "$work/out.json"
check "per request" compare --force --per syscalls:write "$work/a.dwell" "$work/changed.dwell"
check "look-ups rose from 1 to 2, within 1 %" holds "$(line syscall newfstatat count) | .verdict == \"changed\" and
	(.a - 1 | fabs) < 0.01 and (.b - 2 | fabs) < 0.02"
check "waits for the lock rose" holds "$(line process blocked.lock time) | .verdict == \"changed\" and .relative > 0.5"
check "which is the first sentence" holds '.verdict[0] | startswith("blocked.lock of oracle rose")'
check "and its stack the second" holds '.verdict[1] | test("known_need_lock")'
check "a limit that is crossed is exit status 3" sh -c "'$DWELL' diff -q --force --fail-over 5% '$work/a.dwell' '$work/changed.dwell' >'$work/out'; test \$? -eq 3"
finish
