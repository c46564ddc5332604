#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What dwell says of its own cost: its programs are measured in bursts, and what they did beyond them, since somebody
# else has the kernel's clock on, is not in it.
. tests/lib.sh
need_root

work=$(mktemp -d)
file=$work/s.dwell
switch=/proc/sys/kernel/bpf_stats_enabled
before=$(cat $switch)
"$TOOLS/workloads/oracle" moderate >"$work/truth" &
server=$!
end() {
	echo "$before" >$switch
	kill -TERM $server 2>/dev/null
	wait $server
	rm -rf "$work"
}
trap end EXIT

# The same switches, counted by the ledger throughout, and by the kernel in the bursts.
is_half_to_double() {
	sqlite3 "$file" "SELECT 1.0 * events * (SELECT max(end_ns) - min(begin_ns) FROM windows) / measured_ns
		/ (SELECT sum(switches) FROM cpu_queues) FROM hooks WHERE hook = 'ledger_switch'" |
		awk '{ print "by the bursts there were " $1 " times as many"; exit !($1 > 0.5 && $1 < 2) }'
}

for others in 0 1; do
	echo $others >$switch
	timeout 30 "$DWELL" record -q -a -s tcp --no-stacks -d 3 -o "$file"
	check "others' clock $others: it is recorded" test $? -eq 0
	check "others' clock $others: programs ran as often as they did in the bursts" is_half_to_double
	rm -f "$file"*
done
finish
