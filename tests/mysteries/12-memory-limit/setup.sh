# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # names are shared between run.sh, lib.sh and setup.sh
# memory.high is cgroup v2's; where the memory controller is on v1, as on some hosts, its limit_in_bytes has the same
# effect: the thread has to free memory before it gets more, and to read back what was freed.
setup() {
	fallocate -l 512M "$work/swap" && chmod 600 "$work/swap" && mkswap "$work/swap" >/dev/null &&
		swapon "$work/swap" || return
	defer swapoff "$work/swap"
	make_cgroup memory || return
	if [ "$cgroup_version" = 1 ]; then
		echo 64M >"$cgroup/memory.limit_in_bytes" || return
	else
		echo 64M >"$cgroup/memory.high" || return
	fi
	say limit $((64 << 20))
	say cgroup "$cgroup_name"
	spawn cache in_cgroup "$programs/cache" 128
	cache=$spawned
	until_true "the working set is there" test -s "$truth/cache.log" || return
	sample "faults=column:/proc/$cache/stat:11" "delay=delay:$cache"
}
