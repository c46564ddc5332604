# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # names are shared between run.sh, lib.sh and setup.sh
# A memory cgroup stands for a host whose page cache is too small for the file.
setup() {
	dd if=/dev/urandom of="$work/index.dat" bs=1M count=256 status=none && sync || return
	dd of="$work/index.dat" oflag=nocache conv=notrunc,fdatasync count=0 status=none
	make_cgroup memory || return
	if [ "$cgroup_version" = 1 ]; then
		echo 32M >"$cgroup/memory.limit_in_bytes" || return
	else
		echo 32M >"$cgroup/memory.max" || return
	fi
	spawn lookup in_cgroup "$programs/lookup" "$work/index.dat"
	lookup=$spawned
	until_true "lookup runs" test -s "$truth/lookup.log" || return
	sample "faults=column:/proc/$lookup/stat:11" "delay=delay:$lookup"
}
