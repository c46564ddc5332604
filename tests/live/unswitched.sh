#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A thread that keeps a CPU to itself is not seen to leave it: the CPU's account begins with the recording all the same,
# and has that thread's time.
. tests/lib.sh
need_root

cpu=$(($(nproc --all) - 1))
limit=/proc/sys/kernel/sched_rt_runtime_us
[ $cpu -gt 0 ] && [ -w $limit ] && was=$(cat $limit) || { skip "a CPU without a switch" "it needs two CPUs and $limit"; exit 0; }
work=$(mktemp -d)
trap 'echo "$was" >$limit; rm -rf "$work"' EXIT

echo -1 >$limit # else the kernel takes the CPU from it each second
timeout 8 taskset -c $cpu chrt -f 1 "$TOOLS/workloads/oracle" burn >/dev/null 2>&1 &
hog=$!
sleep 0.3
taskset -c 0 timeout 60 "$DWELL" record -a -q -d 2 -o "$work/a.dwell" 2>"$work/err"
check "record -a -d 2 succeeds" test $? -eq 0
kill $hog
wait $hog

# value SQL: one number
value() { sqlite3 "$work/a.dwell" "$1"; }
all=$(value "SELECT sum(end_ns - begin_ns) FROM windows")
for number in 0 $cpu; do
	missing=$(((all - $(value "SELECT coalesce(sum(ns), 0) FROM cpus WHERE cpu = $number")) / 1000000))
	check "of CPU $number $missing ms are missing, less than 50 of 2,000" test ${missing#-} -lt 50
done
first=$(value "SELECT coalesce(sum(ns), 0) / 1000000 FROM cpus WHERE cpu = $cpu AND window = 0 AND use = 2")
check "in the first window the thread has CPU $cpu for $first ms, more than 950 of 1,000" test "$first" -gt 950
finish
