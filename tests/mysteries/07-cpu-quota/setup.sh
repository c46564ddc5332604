# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # names are shared between run.sh, lib.sh and setup.sh
setup() {
	make_cgroup cpu || return
	if [ "$cgroup_version" = 1 ]; then
		echo 100000 >"$cgroup/cpu.cfs_period_us" && echo 20000 >"$cgroup/cpu.cfs_quota_us" || return
		throttled="throttled_ns=field:$cgroup/cpu.stat:throttled_time"
	else
		echo 20000 100000 >"$cgroup/cpu.max" || return
		throttled="throttled_us=field:$cgroup/cpu.stat:throttled_usec"
	fi
	say cgroup "$cgroup_name"
	spawn service in_cgroup "$programs/service"
	sample "$throttled" "times=field:$cgroup/cpu.stat:nr_throttled" "delay=delay:$spawned" "exec=exec:$spawned"
}
