#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Limits of cgroups and counters of the host, as a session has them.
# timing: the program has to get 20 % of a CPU within its 3 s to be throttled
. tests/lib.sh
need_root

work=$(mktemp -d)
file=$work/limits.dwell
name=dwell-limits-$$
trap 'rmdir "$group/inner" "$group" 2>/dev/null; rm -rf "$work"' EXIT

sql() { sqlite3 "$file" "$1"; }
is() { [ "$(sql "$1")" = "$2" ] || { echo "$1 gives $(sql "$1"), not $2"; return 1; }; }

if [ -e /sys/fs/cgroup/cpu/cpu.cfs_quota_us ]; then
	group=/sys/fs/cgroup/cpu/$name
	mkdir "$group" "$group/inner"
	echo 20000 >"$group/cpu.cfs_quota_us"
elif grep -qw cpu /sys/fs/cgroup/cgroup.controllers 2>/dev/null; then
	group=/sys/fs/cgroup/$name
	echo +cpu >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null
	mkdir "$group" "$group/inner"
	echo "20000 100000" >"$group/cpu.max"
else
	echo "ok - limits # SKIP no cgroup tree with the cpu controller"
	finish
fi

cat >"$work/busy.sh" <<-END
	echo \$\$ >$group/inner/cgroup.procs
	echo \$\$ >$work/pid
	end=\$((\$(date +%s) + 3))
	while [ \$(date +%s) -lt \$end ]; do i=0; while [ \$i -lt 1000 ]; do i=\$((i + 1)); done; done
END
"$DWELL" run -q -o "$file" -- sh "$work/busy.sh" 2>"$work/err"
check "the quota of an ancestor is there, and whose it is" is \
	"SELECT cpu_quota_us, cpu_period_us, cpu_cgroup FROM cgroup_limits WHERE cgroup = '/$name/inner'" \
	"20000|100000|/$name"
# At 20 % of a CPU, nearly every period of 100 ms is cut short
check "it was throttled ($(sql "SELECT nr_throttled || ' times, ' || throttled_us || ' us' FROM cgroup_limits
	WHERE cgroup = '/$name'"))" is "SELECT nr_throttled BETWEEN 5 AND 60 AND throttled_us BETWEEN 400000 AND 6000000
	FROM cgroup_limits WHERE cgroup = '/$name'" 1
check "as the kernel says" is "SELECT nr_throttled FROM cgroup_limits WHERE cgroup = '/$name'" \
	"$(awk '$1 == "nr_throttled" {print $2}' "$group/cpu.stat")"
check "its process is there" is "SELECT count(*) FROM cgroup_processes
	WHERE cgroup = '/$name/inner' AND pid = $(cat "$work/pid")" 1
check "counters have a beginning and an end" is "SELECT count(*) > 8 AND min(end >= begin) FROM counters" 1

"$DWELL" run -q -o "$file" -- true 2>"$work/err"
check "what was throttled before does not count" is "SELECT nr_throttled FROM cgroup_limits WHERE cgroup = '/$name'" 0
finish
