#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dwell run against programs that know their own truth: the parts sum to the wall clock, to the
# nanosecond, and each part is what the program itself measured. oracles.jq has the checks.
# timing: times are compared with the program's own clock
. tests/lib.sh
need_root

work=$(mktemp -d)
json=$work/report.json
oracle=$(realpath "$TOOLS/workloads/oracle")
dwell=$(realpath "$DWELL")
end() {
	[ -z "${cgroup:-}" ] || rmdir "$cgroup"
	rm -rf "$work"
}
trap end EXIT

# judge NAME TIER STEAL: the checks of one run
judge() {
	local name=$1 tap=$work/tap
	if ! jq -rf tests/live/oracles.jq --arg name "$name" --rawfile truth "$work/truth" \
		--argjson steal "$3" --arg tier "$2" "$json" >"$tap" 2>"$work/jq"; then
		echo "not ok - $name: its report can be read: $(head -c 300 "$work/jq" "$json")"
		failures=$((failures + 1))
	fi
	cat "$tap"
	failures=$((failures + $(grep -c '^not ok' "$tap")))
}

# run_as NAME TIER COMMAND...: the command runs dwell, which runs an oracle
run_as() {
	local name=$1 tier=$2 steal
	shift 2
	steal=$(steal_ns)
	timeout 60 "$@" >"$work/truth" 2>"$json"
	check "$name: the command's status passes through" test $? -eq 0
	if grep '^# SKIP' "$work/truth" >"$work/skip"; then
		echo "ok - $name $(cat "$work/skip")"
		return
	fi
	judge "$name" "$tier" $(($(steal_ns) - steal))
}

run_oracle() { run_as "$1" B "$dwell" run --json -- "$oracle" "$1"; }
run_in_tier_a() { run_as "$1, Tier A" A "$dwell" run --tier A --json -- "$oracle" "$1"; }

# A namespace of pids: around dwell and the oracle, or around the oracle alone. What the oracle knows
# of its threads' numbers it has from /proc, so holders keep dwell's.
run_in_namespace() {
	run_as "$1, dwell in a pid namespace" B \
		unshare --pid --fork --mount-proc "$dwell" run --json -- "$oracle" "$1"
	if [ "$1" = holders ]; then
		run_as "$1 in a pid namespace" B "$dwell" run --json -- unshare --pid --fork "$oracle" "$1"
	else
		run_as "$1 in a pid namespace" B \
			"$dwell" run --json -- unshare --pid --fork --mount-proc "$oracle" "$1"
	fi
}

# set_cgroup FILE VALUE...
set_cgroup() {
	while [ $# -gt 0 ]; do
		echo "$2" >"$cgroup/$1" || return
		shift 2
	done
}

# make_cgroup: one whose CPU is 20 ms of each 100 ms, as $cgroup; fails where there is none to be had. It
# comes before others: the wait for a CPU after the quota is filled up is not what is tested.
make_cgroup() {
	local root
	if [ -e /sys/fs/cgroup/cpu/cpu.cfs_quota_us ]; then
		cgroup=/sys/fs/cgroup/cpu/dwell-oracle-$$
		mkdir "$cgroup" && set_cgroup cpu.shares 262144 cpu.cfs_period_us 100000 cpu.cfs_quota_us 20000
		return
	fi
	root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ -n "$root" ] && grep -qw cpu "$root/cgroup.controllers" || return
	grep -qw cpu "$root/cgroup.subtree_control" || echo +cpu >"$root/cgroup.subtree_control" || return
	cgroup=$root/dwell-oracle-$$
	mkdir "$cgroup" && set_cgroup cpu.weight 10000 cpu.max "20000 100000"
}

# throttled_ns: by the cgroup's own count, in version 1 and 2
throttled_ns() {
	awk '/^throttled_time/ { printf "%.0f", $2 } /^throttled_usec/ { printf "%.0f", $2 * 1000 }' "$cgroup/cpu.stat"
}

is_within_2_percent() {
	awk -v seen="$1" -v truth="$2" 'BEGIN { exit !(truth > 0 && seen > truth * 0.98 && seen < truth * 1.02) }'
}

run_under_quota() {
	local seen truth
	if ! make_cgroup 2>/dev/null; then
		echo "ok - quota # SKIP no cgroup with a CPU quota can be made here"
		return
	fi
	# shellcheck disable=SC2016 # $$ is that of the shell inside
	run_as quota B "$dwell" run --json -- sh -c 'echo $$ >"$0/cgroup.procs" && exec "$1" quota' "$cgroup" "$oracle"
	truth=$(throttled_ns)
	seen=$(jq '[.processes[].threads[].ledger[] | select(.state == "runq.throttled") | .ns] | add // 0' "$json")
	check "quota: throttled is the cgroup's own count: dwell $seen, cgroup $truth" is_within_2_percent "$seen" "$truth"
}

# Threads of the kernel have no system call, and each CPU's uses sum to the wall clock.
record_the_host() {
	local recorder
	# On a busy host its cost may be beyond what is allowed: then it would end before.
	"$dwell" record -a --max-overhead 100% -o "$work/host.dwell" >/dev/null 2>&1 &
	recorder=$!
	sleep 10 # the moments at which the accounts are read differ a little, at both ends
	kill -TERM $recorder
	wait $recorder
	"$dwell" report --json --kernel "$work/host.dwell" >"$json"
	check "host: its parts sum to the wall clock" jq -e '.quality.closure_error_ns == 0' "$json"
	check "host: threads of the kernel never have a system call" jq -e \
		'[.processes[] | select(.is_kernel) | .threads[].ledger[] | select(.call)] | length == 0' "$json"
	check "host: each CPU's uses sum to its wall clock, to the nanosecond" jq -e \
		'(.cpus | length > 0) and all(.cpus[]; ([.uses[].ns] | add) == .wall_ns)' "$json"
	check "host: $(cpu_time)" eval 'cpu_time >/dev/null'
}

# cpu_time: what threads ran, by their own accounts without interrupts, against what the CPUs have left for
# them; says both, and succeeds if they agree within 0.01 % of the wall.
cpu_time() {
	jq -r '([.processes[].threads[].ledger[] | select(.state | IN("cpu", "cpu.user", "cpu.syscall", "cpu.fault")) | .ns] | add) as $threads
		| ([.cpus[].uses[] | select(.use | IN("idle", "dwell", "other", "irq", "softirq")) | .ns] | add) as $rest
		| ([.cpus[].wall_ns] | add) as $wall
		| "threads \($threads) + idle, dwell, interrupts and others \($rest) = wall \($wall) ns, within 0.01 %",
		  ($threads + $rest - $wall | fabs <= $wall / 10000)' "$json" | {
		read -r said && read -r agrees
		echo "$said"
		[ "$agrees" = true ]
	}
}

# The README's story, as a person reads it: one sentence names the call, how often, and how it failed.
tell_the_story() {
	local text
	"$dwell" run -- "$oracle" plugin >"$work/truth" 2>"$work/text"
	text=$(tr -s ' \n' ' ' <"$work/text")
	check "story: the verdict names openat, its share, and how often it failed" grep -qE \
		'above all openat \([0-9.]+ %\): 1[67],[0-9]{3} calls, of which 1[56],[0-9]{3} failed \(9[0-9] %\)' <<<"$text"
	check "story: so does the table of system calls" grep -qE '^  openat +1[67],[0-9]{3} +1[56],[0-9]{3} ' "$work/text"
	check "story: and time on a CPU is split" grep -qE '^  cpu\.syscall ' "$work/text"
}

for name in sleep pipe retries mutex holders spin tcp epoll faults segv syscalls fdatasync coldread migrate forks \
	threads nonleader-exec compat uring plugin; do
	run_oracle $name
done
for name in sleep pipe mutex spin syscalls threads plugin; do
	run_in_tier_a $name
done
for name in sleep pipe holders spin; do
	run_in_namespace $name
done
run_under_quota
tell_the_story
record_the_host
finish
