#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What dwell says of its own cost: its programs are measured in bursts, and what they did beyond them, since somebody
# else has the kernel's clock on, is not in it.
# timing: what programs did in short bursts stands for the whole time, in which the host does other things too
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

# The same switches, counted by the ledger throughout, and by the kernel in the bursts. These are a part of the time, and
# in some of it the host does more than in the rest: hence 2/3 to 3/2. (0.98 and 1.05 were seen, on a busy host.)
is_near_one() {
	sqlite3 "$file" "SELECT 1.0 * events * (SELECT max(end_ns) - min(begin_ns) FROM windows) / measured_ns
		/ (SELECT sum(switches) FROM cpu_queues) FROM hooks WHERE hook = 'ledger_switch'" |
		awk '{ ratio = $1 } END { print "by the bursts there were " ratio " times as many"; exit !(ratio > 0.667 && ratio < 1.5) }'
}

for others in 0 1; do
	echo $others >$switch
	timeout 30 "$DWELL" record -q -a -s tcp --no-stacks -d 3 -o "$file"
	check "others' clock $others: it is recorded" test $? -eq 0
	check "others' clock $others: by the bursts, programs ran 2/3 to 3/2 times as often as they did" is_near_one
	echo "# $(is_near_one)"
	rm -f "$file"*
done
finish
