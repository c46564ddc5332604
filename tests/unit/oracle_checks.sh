#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The checks of tests/live/oracles.jq can fail: a made-up report that is right passes, and each fault in it is found.
. tests/lib.sh

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo "blocked.sleep 400000000" >"$folder/truth"
cat >"$folder/right.json" <<'END'
{"quality": {"closure_error_ns": 0, "unattributed_ns": 0, "wall_ns": 450000000, "lost": {"torn": 0}, "missed_switches": 0},
 "processes": [{"calls": [], "faults": {"begun": 9, "ended": 9, "failed": 0}, "threads": [{"tid": 7, "wall_ns": 450000000,
  "voluntary": 20, "kernel_voluntary": 20, "involuntary": 1, "kernel_involuntary": 1, "ledger": [
   {"state": "blocked.sleep", "ns": 390000000, "count": 20}, {"state": "runq.woken", "ns": 10000000, "count": 20},
   {"state": "runq.preempted", "ns": 40000000, "count": 1}, {"state": "cpu.user", "ns": 10000000, "count": 21}]}]}]}
END

# judge [CHANGE]: the report with a change of jq's, judged
judge() {
	jq "${1:-.}" "$folder/right.json" >"$folder/report.json" && jq -rf tests/live/oracles.jq --arg name it --rawfile truth \
		"$folder/truth" --argjson steal 0 --arg tier B "$folder/report.json" >"$folder/tap"
}
passes() { judge "$@" && ! grep '^not ok' "$folder/tap" && [ "$(grep -c '^ok' "$folder/tap")" -ge 8 ]; }
# fails TEXT CHANGE: the one check that has this text
fails() { judge "$2" && grep -q "^not ok.*$1" "$folder/tap" && [ "$(grep -c '^not ok' "$folder/tap")" -eq 1 ] || { cat "$folder/tap"; return 1; }; }
thread=".processes[0].threads[0]"

check "a report that is right passes" passes
check "a switch too many is found" fails "switches are" "$thread.voluntary += 1"
check "one too few, too" fails "switches are" "$thread.involuntary -= 1"
check "one that never reached dwell may be missing" passes "$thread.voluntary -= 1 | .quality.missed_switches = 1"
check "two may not" fails "switches are" "$thread.voluntary -= 2 | .quality.missed_switches = 1"
check "sleep that is missing is found, however long the thread waited for a CPU otherwise" fails "blocked.sleep is" \
	"$thread.ledger[0].ns -= 20000000 | $thread.ledger[2].ns += 20000000"
check "sleep that is too long is found" fails "blocked.sleep is" \
	"$thread.ledger[0].ns += 20000000 | $thread.ledger[2].ns -= 20000000"
check "parts that do not sum up are found" fails "parts - wall" "$thread.wall_ns += 1"
check "what was lost is found" fails "nothing was lost" ".quality.lost.torn = 1"
check "a fault without an end is found" fails "faults begun" ".processes[0].faults.ended -= 1"
finish
