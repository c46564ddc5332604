#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# -s netrx against a program that counts its packets, and against /proc/softirqs: what has run while
# it measured is in it, and nothing that has not.
#
# timing: one that is asked for again while the kernel takes up a round is unmatched; a busy CPU has more of these
. tests/lib.sh
need_root

work=$(mktemp -d)
json=$work/report.json
oracle=$(realpath "$TOOLS/workloads/oracle")
dwell=$(realpath "$DWELL")
trap 'rm -rf "$work"' EXIT

truth() { awk -v key="$1" '$1 == key { print $2 }' "$work/truth"; }
# has_run NAME: by the kernel's own count, on all CPUs
has_run() { awk -v name="$1:" '$1 == name { for (i = 2; i <= NF; i++) sum += $i } END { print sum }' /proc/softirqs; }
# total KIND VECTOR WHAT
total() { jq "[.signals.netrx[] | select(.kind == \"$1\" and .vector == \"$2\") | .$3] | add // 0" "$json"; }

# A network of its own has a loopback of its own, on which nobody else is.
cat >"$work/inside" <<-END
	ip link set lo up
	"$dwell" run -s netrx --json --no-stacks -- "$oracle" udp-self >"$work/truth" 2>"$json"
END
net_rx=$(has_run NET_RX)
timer=$(has_run TIMER)
timeout 60 unshare --net sh -e "$work/inside"
check "it ran" test $? -eq 0
net_rx=$(($(has_run NET_RX) - net_rx))
timer=$(($(has_run TIMER) - timer))

# is_between WHAT SEEN LEAST MOST
is_between() { check "$1: $2, by /proc/softirqs from $3 to $4" test "$2" -ge "$3" -a "$2" -le "$4"; }
is_between "runs of net_rx" "$(total softirq net_rx count)" "$(truth net_rx)" "$net_rx"
is_between "runs of timer" "$(total softirq timer count)" "$(truth timer)" "$timer"
runs=$(($(total packets net_rx count) - $(total softirq net_rx count)))
# One may end while they are read.
check "each run of net_rx has its packets" test ${runs#-} -le 1

# The one loopback with so many packets is ours.
sockets=$(jq --argjson datagrams "$(truth datagrams)" '[.signals.netrx[] | select(.kind == "to_socket" and .device == "lo")]
	| group_by(.device_id) | map({count: map(.count) | add, ns: map(.sum_ns) | add})
	| map(select(.count == $datagrams)) | .[0] // empty' "$json")
check "each of $(truth datagrams) datagrams reached its socket, and none twice" test -n "$sockets"
check "no faster than can be, no slower than the program saw: $(jq -c .ns <<<"$sockets") of $(truth took) ns" \
	jq -e --argjson took "$(truth took)" '.ns > 0 and .ns < $took' <<<"$sockets"

unmatched=$(jq '[.signals.netrx[].unmatched | .orphan_start + .orphan_end + .expired] | add' "$json")
all=$(jq '[.signals.netrx[] | select(.kind == "raised") | .count] | add' "$json")
is_matched() {
	jq -c '.signals.netrx[] | select(.unmatched.orphan_end > 0) | [.vector, .cpu, .count, .unmatched.orphan_end]' "$json"
	test $((unmatched * 1000)) -le "$all"
}
check "unmatched: $unmatched of $all, at most 0.1 %" is_matched
finish
