#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Requests to disks, against a loop device's own statistics and fio's own times: counts and bytes to
# the last one. The disk below it is throttled for a cgroup, which makes a tail that averages hide.
# timing: percentiles of requests are compared with fio's own clock
. tests/lib.sh
need_root

work=$(mktemp -d -p "${BUILD:-build}")
dwell=$(realpath "$DWELL")
loop='' cgroup='' moved=''
end() {
	[ -z "$loop" ] || losetup -d "$loop"
	[ -z "$cgroup" ] || rmdir "$cgroup"
	[ -z "$moved" ] || umount "$work/small"
	rm -rf "$work"
}
trap end EXIT

need() { command -v "$1" >/dev/null || skip_all "$1 is not installed"; }
skip_all() {
	echo "ok - block # SKIP $1"
	exit 0
}
need fio
need losetup
[ -e /dev/loop-control ] || skip_all "no loop devices here"

# attach FILE: as $loop, and its name in diskstats as $name
attach() {
	loop=$(losetup --show -f --direct-io=on "$1") || loop=$(losetup --show -f "$1") || skip_all "losetup failed"
	name=${loop#/dev/}
}
detach() {
	losetup -d "$loop"
	loop=
}

# throttle DISK IOPS: a cgroup that may read so often from the disk, major:minor, as $cgroup
throttle() {
	local disk=$1 root
	shift
	if [ -e /sys/fs/cgroup/blkio/blkio.throttle.read_iops_device ]; then
		cgroup=/sys/fs/cgroup/blkio/dwell-block-$$
		mkdir "$cgroup" && echo "$disk $1" >"$cgroup/blkio.throttle.read_iops_device"
		return
	fi
	root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ -n "$root" ] && grep -qw io "$root/cgroup.controllers" || return
	grep -qw io "$root/cgroup.subtree_control" || echo +io >"$root/cgroup.subtree_control" || return
	cgroup=$root/dwell-block-$$
	mkdir "$cgroup" && echo "$disk riops=$1" >"$cgroup/io.max"
}

# observed NAME COMMAND...: runs it while perf records the disk's requests, too. There are machines on which an event is
# reported to nobody, neither to a BPF program nor to perf, while certain threads have the CPU that it comes to.
observed() {
	local out=$work/$1 only status
	shift
	only="dev == $(($(stat -c '0x%t << 20 | 0x%T' "$loop")))"
	perf record -q -a -m 4096 -o "$out.perf" -e block:block_rq_issue --filter "$only" \
		-e block:block_rq_complete --filter "$only" -- "$@"
	status=$?
	perf report --stats -i "$out.perf" 2>/dev/null >"$out.observed"
	rm -f "$out.perf"
	return $status
}

# load NAME: NAME.sh is run under dwell, between two looks at the disk's own statistics
load() {
	cat >"$work/$1.sh"
	observed "$1" timeout 60 "$dwell" record -q -s block --slow 20ms -o "$work/$1.dwell" -- sh -c "
		grep -w $name /proc/diskstats >$work/before
		. $work/$1.sh
		grep -w $name /proc/diskstats >$work/after"
}

# It gets a CPU when it wants one: else its own times have the wait for it, when others are busy here.
first="nice -n -20"
chrt -f 20 true 2>/dev/null && first="chrt -f 20"
fio() { echo $first fio --direct=1 --filename="$loop" --output-format=json "$@"; }

# judge CHECK...: those of block.py, of the last load
judge() {
	local load=$1 tap=$work/tap
	shift
	python3 tests/live/block.py "$load" "$work" "$loop" "$@" >"$tap" || failures=$((failures + 1))
	cat "$tap"
	failures=$((failures + $(grep -c '^not ok' "$tap")))
}

truncate -s 64M "$work/image"
attach "$work/image"
dd if=/dev/urandom of="$loop" bs=1M oflag=direct status=none
sync

load mixed <<END
$(fio --name=read --rw=randread --bs=4k --ioengine=psync --number_ios=1500 --output="$work/read.json")
$(fio --name=write --rw=write --bs=64k --ioengine=psync --number_ios=500 --output="$work/write.json")
dd if=/dev/zero of=$loop bs=1M count=4 conv=fsync,notrunc status=none
blkdiscard -o 33554432 -l 4194304 $loop
END
judge mixed counted fio parts matched submitted regions

# A disk that is busy before dwell comes and after it is gone: only what was under way then lacks an end.
# shellcheck disable=SC2091 # it is a command that fio() gives
$(fio --name=through --rw=randread --bs=4k --ioengine=libaio --iodepth=4 --time_based --runtime=8 --output="$work/through.json") &
busy=$!
for i in 1 2 3; do
	observed "through-$i" timeout 60 "$dwell" record -q -s block -a -d 1 -o "$work/through-$i.dwell"
done
kill $busy
wait $busy 2>/dev/null
judge through-1 matched_in_all

below=$(findmnt -no MAJ:MIN -T "$work" | tr -d ' ')
if throttle "$below" 200; then
	load tail <<END
$(fio --name=fast --rw=randread --bs=4k --ioengine=psync --number_ios=800 --output="$work/fast.json")
sh -c 'echo \$\$ >$cgroup/cgroup.procs; exec $(fio --name=slow --rw=randread --bs=8k --ioengine=psync --number_ios=400 --output="$work/slow.json")'
END
	judge tail counted parts matched tail slow
	check "the limit is not blamed on the device" sh -c \
		"'$dwell' report '$work/tail.dwell' --signal block >'$work/text' && ! grep '$name is slow' '$work/text'"
	check "whose requests are not the disk's time" sh -c \
		"'$dwell' report '$work/tail.dwell' --signal block | tr -s ' \n' ' ' | grep -q '$name: requests took .* other disks'"

	# More at a time than a loop device takes: the scheduler keeps them.
	echo mq-deadline >"/sys/block/$name/queue/scheduler"
	load deep <<END
sh -c 'echo \$\$ >$cgroup/cgroup.procs; exec $(fio --name=deep --rw=randread --bs=16k --ioengine=libaio --iodepth=240 --number_ios=600 --output="$work/deep.json")'
END
	judge deep counted parts matched queues
	echo none >"/sys/block/$name/queue/scheduler"
	rmdir "$cgroup"

	# Held back on the device itself: the kernel's worker makes the requests, and interrupts come to whoever runs.
	throttle "$(cat "/sys/block/$name/dev")" 100
	load limited <<END
sh -c 'while :; do :; done' & busy=\$!
sh -c 'echo \$\$ >$cgroup/cgroup.procs; exec $(fio --name=limited --rw=randread --bs=4k --ioengine=psync --number_ios=200 --output="$work/limited.json")'
kill \$busy
END
	judge limited counted parts matched owners
else
	echo "ok - tail # SKIP no cgroup here can throttle a disk"
fi

# A file that became shorter is read in parts: each request is one.
truncate -s $((32 * 1024 * 1024 + 2048)) "$work/image"
load parts <<END
dd if=$loop of=/dev/null bs=64k skip=510 count=4 iflag=direct status=none 2>/dev/null
true
END
judge parts counted parts matched cut
detach

# One that has no room for what is written: requests fail, and how is told.
mkdir "$work/small"
mount -t tmpfs -o size=1m tmpfs "$work/small" && moved=1
truncate -s 8M "$work/small/image"
attach "$work/small/image"
load failing <<END
dd if=/dev/zero of=$loop bs=64k count=64 oflag=direct status=none 2>/dev/null
dd if=/dev/zero of=$loop bs=64k seek=32 count=8 oflag=direct status=none 2>/dev/null
true
END
judge failing matched failing
detach
finish
