#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# -s runq against the kernel's own count of how long threads waited for a CPU.
# timing: waits for a CPU are compared with the kernel's clock
. tests/lib.sh
need_root
. tests/signals.sh

if measure runq queue --slow 5ms; then
	check "waits are as long as the kernel says" near "$(sum runq true sum_ns)" "$(truth delay_ns)"
	# When the program ends, each of its five threads runs once more.
	check "and as many" within "$(sum runq true count)" "$(truth waits)" 8
	check "long ones are told one by one" test "$(jq '[.slow[] | select(.signal == "runq")] | length' "$json")" -ge 20
	check "the worst threads are listed, the longest wait first" jq -e '.lists.runq.worst_threads
		| length >= 4 and (map(.longest_ns) | . == (sort | reverse))' "$json"
	check "the longest of all is theirs" is "$(jq '.lists.runq.worst_threads[0].longest_ns' "$json")" \
		"$(jq '[.signals.runq[].max_ns] | max' "$json")"
fi
finish
