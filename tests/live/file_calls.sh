#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# -s files against a program that counts and times its own calls: every call and byte, whose file it was,
# where a slow one's time went. (files.sh is about the files that dwell itself makes.)
# timing: times of calls are compared with the program's own clock
. tests/lib.sh
need_root

work=$(mktemp -d -p "${BUILD:-build}")
oracle=$(realpath "$TOOLS/workloads/oracle")
dwell=$(realpath "$DWELL")
work=$(realpath "$work")
loop='' cgroup='' mount=''
end() {
	[ -z "$mount" ] || umount "$mount"
	[ -z "$loop" ] || losetup -d "$loop"
	[ -z "$cgroup" ] || rmdir "$cgroup"
	rm -rf "$work"
}
trap end EXIT

# judge CHECK COMMAND...: the command runs in the folder, under dwell; then a check of file_calls.py
signals=files,block
judge() {
	local name=$1 tap=$work/tap
	shift
	(cd "$work" && timeout 60 "$dwell" record -q -s $signals -o "$work/$name.dwell" -- "$@" >"$work/truth")
	check "$name: recorded" test $? -eq 0
	"$dwell" report --json "$work/$name.dwell" >"$work/json"
	python3 tests/live/file_calls.py "$work/json" "$work/truth" "$name" >"$tap" || failures=$((failures + 1))
	cat "$tap"
	failures=$((failures + $(grep -c '^not ok' "$tap")))
}

"$dwell" run -q -s files -- true 2>/dev/null || {
	echo "ok - files # SKIP $("$dwell" run -q -s files -- true 2>&1 | head -1)"
	exit 0
}
judge counted "$oracle" files
judge locked "$oracle" readlock
# That it was a lock, the kernel says itself where it looks for tasks that hang, from 6.16; or, from 5.19,
# its tracepoints do, with -s locks.
kernel_has() { grep -qzx "$1" /sys/kernel/btf/vmlinux || { skip "lock, by $1" "this kernel has none"; return 1; }; }
! kernel_has blocker || judge lock "$oracle" readlock
! kernel_has btf_trace_contention_begin || signals=files,block,locks judge lock "$oracle" readlock
judge many "$oracle" many-files

# Names: of a path that is too long the end is kept, with its last part whole; mounts are in it.
long=$(printf '%0100d' 7)
mkdir -p "$work/one/two/three/$long/four" "$work/mounted"
if mount -t tmpfs dwell-names "$work/mounted"; then
	mount=$work/mounted
	mkdir -p "$mount/folder"
fi
judge named python3 -c '
import sys
for path in sys.argv[1:]:
    with open(path, "wb", buffering=0) as file:
        file.write(b"x")
    print(path, 1)' "$work/one/two/three/$long/four/deep-file" "$work/one/$long$long.file" ${mount:+"$mount/folder/other-mount"}

# Reads of a loop device whose own disk is throttled for them: slow requests, which are the disk's.
disk=$(findmnt -no MAJ:MIN -T "$work" | tr -d ' ')
cgroup=/sys/fs/cgroup/blkio/dwell-files-$$
truncate -s 16M "$work/image"
if [ -e /sys/fs/cgroup/blkio/blkio.throttle.read_iops_device ] && mkdir "$cgroup" &&
	echo "$disk 100" >"$cgroup/blkio.throttle.read_iops_device" &&
	dd if=/dev/urandom of="$work/image" bs=1M count=16 conv=notrunc,fsync status=none &&
	loop=$(losetup --show -f --direct-io=on "$work/image"); then
	judge throttled sh -c "echo \$\$ >$cgroup/cgroup.procs; exec dd if=$loop of=/dev/null bs=4k count=150 iflag=direct status=none"
else
	[ -d "$cgroup" ] || cgroup=
	echo "ok - throttled # SKIP no cgroup here can throttle a disk, or there are no loop devices"
fi
finish
