#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# record_examples.sh FOLDER: records the four sessions whose pages are in docs/images, as root: the plugin server of
# the README, a convoy for a lock, a disk with a slow tail, and a host with PostgreSQL under pgbench.
set -eu
. tests/lib.sh
. tests/mysteries/lib.sh
PATH=$PATH:/usr/sbin:/sbin

folder=${1:?a folder for the sessions}
number=examples
work=$(mktemp -d)
chmod 755 "$work"
truth=$work/truth
mkdir -p "$truth" "$folder"
trap 'undo; rm -rf "$work"' EXIT
oracle=${BUILD:-build}/tests/workloads/oracle

"$DWELL" run -q -F 1999 -o "$folder/plugin.dwell" -- "$oracle" plugin

"$DWELL" run -q -F 499 -s locks,offcpu,runq -o "$folder/convoy.dwell" -- sh -c "$oracle convoy; $oracle convoy; $oracle long-hold"

# Small reads, fast; and from time to time a burst of large ones, behind which they wait.
make_disk 512
dd if=/dev/urandom of="$disk/data" bs=1M count=256 status=none
sync
spawn reads fio --name=reads --filename="$disk/data" --rw=randread --bs=4k --direct=1 --size=256M --rate_iops=300 \
	--ioengine=psync --time_based --runtime=40
spawn bursts sh -c "for i in 1 2 3 4 5 6; do sleep 3; fio --name=burst --filename=$disk/data --rw=randread --bs=1M \
	--direct=1 --size=256M --ioengine=libaio --iodepth=64 --number_ios=600 --output=/dev/null; done"
sleep 1
"$DWELL" record -q -a -s block,files -d 20 -o "$folder/disk.dwell"
undo

start_postgres 28927
as_postgres "$pg_bin/pgbench" -h "$work/pg" -p "$pg_port" -q -i -s 5 postgres >"$work/init" 2>&1
spawn bench as_postgres "$pg_bin/pgbench" -h "$work/pg" -p "$pg_port" -n -c 8 -T 60 postgres
sleep 2
"$DWELL" record -q -a -s runq,block,locks,tcp,files -d 20 -o "$folder/pgbench.dwell"
