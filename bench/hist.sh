#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What our histogram costs to record a value, against one of powers of two. Both look up the same key in the
# same hash, and count and add up the same (hist.bpf.c); they run in the kernel by BPF_PROG_TEST_RUN, in turns.
. bench/lib.sh
HIST=${BUILD:-build}/bench/hist

one_round() {
	local name ns
	"$HIST" >"$work/round" || give_up "its programs cannot be run here"
	while read -r name ns; do
		note "$name" "$ns"
	done <"$work/round"
}
interleave one_round

# What it takes to run a program at all is no part of it.
for name in floor log2 ours; do
	paste "$work/$name.values" "$work/empty.values" | awk '{ print $1 - $2 }' >"$work/$name-net.values"
done
divide histogram ours-net log2-net
goal histogram "<=" 1.5 "ns to record a value, over those of a histogram of powers of two"
show ours-net ns
show log2-net ns
show floor-net ns
exit $status
