#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# -s offcpu against programs that measure their own waits: as many in each state, and as long.
# timing: waits are compared with the program's own clock
. tests/lib.sh
need_root
. tests/signals.sh

# state WORKLOAD STATE COUNT
state() {
	local ours queued
	measure offcpu "$1" -s runq || return
	ours=$(sum offcpu ".state == \"$2\"" sum_ns)
	queued=$(sum runq true sum_ns)
	check "$1: each wait is counted" is "$(sum offcpu ".state == \"$2\"" count)" "$3"
	# What the program measures has its waits for a CPU, too, which others may make long.
	check "$1: as long as it saw them" near "$(awk -v a="$ours" -v q="$queued" -v b="$(truth "$2")" \
		'BEGIN { x = a; if (x < b) x += q < b - x ? q : b - x; printf "%.0f", x }')" "$(truth "$2")"
}

state sleep blocked.sleep 20
state pipe blocked.pipe 20
state epoll blocked.sleep 20
finish
