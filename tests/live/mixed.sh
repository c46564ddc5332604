#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A host that does several things at once: PostgreSQL under pgbench, node, a busy loop, fio. What the first lines of
# `record -a -d 10` say has to agree with the kernel's own figures, and the recording has to cover all of the time.
# timing: shares of the CPUs are compared with the kernel's figures at about the same moments, and dwell's own cost with a limit
. tests/lib.sh
need_root
. tests/mysteries/lib.sh
PATH=$PATH:/usr/sbin:/sbin

number=mixed
seconds=10
work=$(mktemp -d)
chmod 755 "$work"
truth=$work/truth
mkdir "$truth"
trap 'undo; rm -rf "$work"' EXIT
session=$work/a.dwell
json=$work/a.json

pgbench_of() { as_postgres "$pg_bin/pgbench" -h "$work/pg" -p "$pg_port" -n "$@" postgres; }

start_host() {
	start_postgres 28925 && pgbench_of -i -s 5 >"$work/pgbench.init" 2>&1 || return
	# At a rate of its own, as all that is here but the loop: so each host has the same to do.
	spawn bench as_postgres "$pg_bin/pgbench" -h "$work/pg" -p "$pg_port" -n -c 4 -R 1000 -T 60 postgres
	spawn node node tests/mysteries/04-event-loop/server.js 28940
	node=$spawned
	spawn hog "$programs/hog"
	hog=$spawned
	until_listening 28940 || return
	spawn load "$programs/load" 28940 2 20 /catalog
	dd if=/dev/zero of="$work/fio.dat" bs=1M count=128 status=none || return
	spawn fio fio --name=reads --filename="$work/fio.dat" --rw=randread --bs=16k --direct=1 --size=128M --rate_iops=2000 \
		--thread --time_based --runtime=60
	fio=$spawned
	sleep 2
}

# processes_of PARENT: its children and itself
processes_of() { echo "$(pgrep -P "$1" | paste -sd,),$1"; }

record() {
	sample "postgres=cpu:$(processes_of "$postmaster")" "node=cpu:$node" "hog=cpu:$hog" "fio=cpu:$fio" \
		steal=column:/proc/stat:8
	timeout 60 "$DWELL" record -q -a -d $seconds -s runq,block -o "$session" >"$work/record.out" 2>&1 || return
	sleep 0.2
	undo
	"$DWELL" report --json "$session" >"$json" && COLUMNS=80 "$DWELL" report --color never "$session" >"$work/report.txt"
}

# The first 15 lines after the head, which ends with an empty line
first_lines() { awk 'on && n++ < 15; /^$/ { on = 1 }' "$work/report.txt"; }
first_say() { first_lines | tr '\n' ' ' | tr -s ' ' | grep -qE -- "$1" || { first_lines; return 1; }; }

# The kernel's share of all CPUs' time, in percent, over the recorded time
kernel_share() {
	jq -r '.meta | "\(.started_ns) \(.ended_ns) \(.cpus)"' "$json" | {
		read -r begin end cpus
		awk -v name="$1" -v begin="$begin" -v end="$end" -v cpus="$cpus" '$2 == name {
			if ($1 <= begin) { t0 = $1; v0 = $3 }
			if ($1 <= end) { t1 = $1; v1 = $3 }
		} END { printf "%.9g\n", (v1 - v0) * 100 / (t1 - t0) / cpus }' "$truth/kernel.log"
	}
}

dwell_share() {
	jq -r --arg name "$1" '([.findings[] | select(.id == "cpu-top") | .evidence[]
		| select(.name == "cpu" and .what == $name) | .value] | first) // # not among the first
		([.processes[] | select(.comm == $name) | .ledger[] | select(.state | startswith("cpu")) | .ns] | add // 0)
		* 100 / (.slice.end_ns - .slice.begin_ns) / (.meta.cpus | tonumber)' "$json"
}

# share_agrees NAME: to 2 points. What the hypervisor took is in dwell's figure: whoever had the CPU then had no other.
# The kernel leaves it out, and counts it in ticks, for all together.
share_agrees() {
	local kernel dwell steal
	kernel=$(kernel_share "$1") dwell=$(dwell_share "$1")
	steal=$(awk -v share="$(kernel_share steal)" -v hz="$(getconf CLK_TCK)" 'BEGIN { print share * 1e9 / hz }')
	awk -v k="$kernel" -v d="$dwell" -v s="$steal" 'BEGIN { exit !(d >= k - 2 && d <= k + 2 + s) }' ||
		{ echo "$1: the kernel has $kernel %, dwell $dwell %; $steal % were stolen"; return 1; }
}

# Each window has samples, and nothing was switched off
says_nothing() {
	local said
	said=$(sqlite3 "$session" "$1" 2>&1) && [ -z "$said" ] || { echo "$said"; return 1; }
}
stacks_cover() {
	says_nothing "SELECT 'window ' || id || ' has no samples' FROM windows
		WHERE end_ns - begin_ns > 500000000 AND id NOT IN (SELECT window FROM samples)"
}
signals_cover() {
	says_nothing "SELECT 'window ' || w.id || ' has no runq' FROM windows w
		WHERE w.end_ns - w.begin_ns > 500000000 AND NOT EXISTS (SELECT 1 FROM series_values v
		JOIN series s ON s.id = v.series WHERE v.window = w.id AND s.signal = 'runq' AND v.count > 0)"
}
has_windows() { [ "$(sqlite3 "$session" "SELECT count(*) FROM windows WHERE end_ns - begin_ns > 500000000")" -ge $((seconds - 1)) ]; }
nothing_is_off() { jq -e '[.findings[] | select(.id == "partial-cover")] | length == 0' "$json"; }

# What dwell took, as it says itself, percent of all CPUs' time
overhead() {
	jq -r '(.quality.overhead | .bpf_total_ns + .user_cpu_ns) * 100
		/ ((.meta.ended_ns | tonumber) - (.meta.started_ns | tonumber)) / (.meta.cpus | tonumber)' "$json"
}
is_cheap() { awk -v o="$(overhead)" 'BEGIN { exit !(o + 0 > 0 && o <= 5) }' || { echo "overhead $(overhead) %"; return 1; }; }

if ! start_host >"$work/start.out" 2>&1 || ! record; then
	echo "not ok - a host with mixed load is recorded"
	sed 's/^/#   /' "$work"/*.out
	exit 1
fi
for name in postgres node hog fio; do
	check "$name: its share of the CPUs is the kernel's, to 2 points" share_agrees $name
done
for name in postgres node hog; do
	check "the first 15 lines have $name" first_say "$name.* [0-9.]+ %"
done
check "and who waits for a CPU, because of whom" first_say 'waited [0-9.]+ m?s for a CPU.*ran instead: [a-z]+'
check "and what else is slow" first_say '(waited [0-9.]+ m?s.* for (a disk|127\.0\.0\.1|the lock|another process)|event loop ran)'
check "its windows are there" has_windows
check "stacks cover all of the time" stacks_cover
check "signals cover all of the time" signals_cover
check "nothing was switched off" nothing_is_off
check "the overhead is 5 % at most" is_cheap
echo "# overhead $(overhead) % of all CPUs' time"
finish
