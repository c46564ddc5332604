#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# -s offcpu against programs that measure their own waits: as many in each state, and as long.
. tests/lib.sh
need_root
. tests/signals.sh

# state WORKLOAD STATE COUNT
state() {
	measure offcpu "$1" || return
	check "$1: each wait is counted" is "$(sum offcpu ".state == \"$2\"" count)" "$3"
	# What the program measures also has the way into the wait and out of it.
	check "$1: as long as it saw them" near "$(sum offcpu ".state == \"$2\"" sum_ns)" "$(truth "$2")"
}

state sleep blocked.sleep 20
state pipe blocked.pipe 20
state epoll blocked.poll 20
finish
