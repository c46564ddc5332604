#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# -s sched against the kernel's own counts of switches, moves and wake-ups.
# timing: a burst of wake-ups has to fit into 1 ms
. tests/lib.sh
need_root
. tests/signals.sh

of() { sum sched ".kind == \"$1\"" "$2"; }

# Beyond the kernel's count when it is taken: each thread's last stay, and what it takes to end. What
# the program's process did before its exec is not dwell's.
measure sched herd
check "each stay on a CPU is counted" within "$(of run count)" \
	$(($(truth switches) + $(truth threads))) 12
check "by CPU they are as many" is "$(of cpu count)" "$(of run count)"
check "and as long" is "$(of cpu sum_ns)" "$(of run sum_ns)"
check "each wake-up is counted" within "$(of wakeup count)" $(($(truth woken) + $(truth threads))) 20
check "the largest burst has most of the herd" test "$(jq '[.signals.sched[]
	| select(.kind == "wakeup") | .max] | max' "$json")" -ge 24
check "the storm is told" says sched "threads within 1 ms: of its"

measure sched migrate
if [ "$(truth migrations)" -gt 0 ]; then
	check "each move to another CPU is counted" within "$(of migration count)" "$(truth migrations)" 5
	check "that it is moved about is told" says sched "moved to another CPU"
	check "that it wakes the same one each time is no storm" is "$(jq '[.remarks.sched[]
		| select(contains("within 1 ms: of its"))] | length' "$json")" 0
else
	skip migrate "there is one CPU only, or the kernel does not count migrations"
fi
finish
