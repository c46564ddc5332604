#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# -s faults against the kernel's own count, and a program's own clock.
# timing: times of faults are compared with the program's own clock
. tests/lib.sh
need_root
. tests/signals.sh

measure faults pages --stacks 1/10
pid=$(truth pid)
of() { sum faults ".kind == \"$1\" and .pid == $pid" "$2"; }
check "minor faults are as many as the kernel says" within "$(of minor count)" "$(truth minor)" 2
check "they took no longer than the program did" test "$(of minor sum_ns)" -le "$(truth fresh_ns)"
check "by stack there are as many" within "$(of minor_stack count)" "$(truth minor)" $(($(truth minor) / 5))
check "most of them where it touches fresh pages" jq -e --argjson pid "$pid" '[.signals.faults[]
	| select(.kind == "minor_stack" and .pid == $pid)] | max_by(.count).stack | test("touch_fresh")' "$json"
check "major faults are as many as the kernel says" is "$(of major count)" "$(truth major)"
if [ "$(truth major)" -gt 100 ]; then
	# Its clock has what is outside of a fault too (the way into the kernel and back, programs of ours that run
	# there), which fresh pages tell: those faults take little else.
	outside=$((($(truth fresh_ns) - $(of minor sum_ns)) / $(truth minor) * $(truth major)))
	check "they took no longer than the program waited" test "$(of major sum_ns)" -le "$(truth cold_ns)"
	check "and no less, to 5 %" test "$(of major sum_ns)" -ge \
		$(($(truth cold_ns) - outside - $(truth cold_ns) / 20 - 100000))
	check "that it waits for a disk is told" says faults "had to be read from a disk"
else
	skip "times of major faults" "only $(truth major) had to be read from a disk"
fi
finish
