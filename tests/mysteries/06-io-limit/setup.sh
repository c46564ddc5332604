# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # names are shared between run.sh, lib.sh and setup.sh
setup() {
	make_disk 320 && dd if=/dev/urandom of="$disk/data" bs=1M count=256 status=none && sync || return
	make_cgroup blkio || return
	limit=$((8 << 20))
	if [ "$cgroup_version" = 1 ]; then
		echo "$(lsblk -dno MAJ:MIN "$loop" | tr -d ' ') $limit" >"$cgroup/blkio.throttle.read_bps_device" || return
	else
		echo "$(lsblk -dno MAJ:MIN "$loop" | tr -d ' ') rbps=$limit" >"$cgroup/io.max" || return
	fi
	say limit "$limit"
	say cgroup "$cgroup_name"
	say device "$(basename "$loop")"
	spawn reader in_cgroup "$programs/reader" "$disk/data"
	sample "device_ms=column:/sys/block/$(basename "$loop")/stat:3" "device_reads=column:/sys/block/$(basename "$loop")/stat:0"
}
