#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pictures.sh FOLDER [IMAGES]: records sessions into FOLDER, as root, writes their pages, and takes the pictures of
# them that are in docs/images: the plugin server of the README, threads that wait for a lock, the same with a longer hold
# compared with a shorter one, a disk with a slow tail, a host with PostgreSQL under pgbench, and the slowest request of
# examples/shop. Look at them before you commit them.
set -eu
. tests/lib.sh
. tests/mysteries/lib.sh
PATH=$PATH:/usr/sbin:/sbin

folder=${1:?a folder for sessions and pages}
images=${2:-docs/images}
number=pictures
work=$(mktemp -d)
chmod 755 "$work"
truth=$work/truth
mkdir -p "$truth" "$folder"
trap 'undo; rm -rf "$work"' EXIT
cp -r "${BUILD:-build}/tests/workloads" "$work/demo" # its path is in the pictures
oracle=$work/demo/oracle

# picture NAME [#SELECTION] [OPTIONS]: of FOLDER/NAME.dwell
picture() {
	local name=$1 selection=$2
	shift 2
	"$DWELL" report "$@" --html "$folder/$name.html" "$folder/$name.dwell"
	node web/screenshots.mjs "$folder/$name.html$selection" "$name" "$images"
}

"$DWELL" run -q -F 1999 -o "$folder/plugin.dwell" -- "$oracle" plugin
picture plugin ""

SERVICE_SECONDS=15 SERVICE_HOLD_MS=25 "$DWELL" run -q -F 199 -s locks,offcpu,runq -o "$folder/lock.dwell" -- "$oracle" service
picture lock "#tab=timeline"

# --force: whatever else runs here, it is a picture.
for hold in 5 15; do
	SERVICE_SECONDS=20 SERVICE_HOLD_MS=$hold "$DWELL" run -q -F 499 -s locks -o "$folder/hold-$hold-ms.dwell" -- chrt -f 10 "$oracle" service
done
(dwell=$(realpath "$DWELL") && cd "$folder" && "$dwell" diff --force --html change.html hold-5-ms.dwell hold-15-ms.dwell)
node web/screenshots.mjs "$folder/change.html#flame=blocked" change "$images"

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
picture disk "#tab=latency" --comm fio

start_postgres 28927
as_postgres "$pg_bin/pgbench" -h "$work/pg" -p "$pg_port" -q -i -s 5 postgres >"$work/init" 2>&1
spawn bench as_postgres "$pg_bin/pgbench" -h "$work/pg" -p "$pg_port" -n -c 8 -T 60 postgres
sleep 2
"$DWELL" record -q -a -s runq,block,locks -d 20 -o "$folder/pgbench.dwell"
picture pgbench "" --comm 'postgres,pgbench'

examples/shop/start.sh 15 "$folder/shop.dwell" >"$work/shop" 2>&1
"$DWELL" report --html "$folder/shop.html" "$folder/shop.dwell"
node web/screenshots.mjs --of='.request-list > li:has(.waterfall)' "$folder/shop.html#tab=requests" requests-waterfall "$images"
