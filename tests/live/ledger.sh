#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dwell run against programs that know their own truth: the parts sum to the wall clock, to the
# nanosecond, and each part is what the program itself measured.
. tests/lib.sh
need_root

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
json=$work/report.json

# sums STATE: nanoseconds of all threads in it, and in its parts
sums() {
	jq --arg s "$1" '[.processes[].threads[].ledger[] | select(.state == $s or (.state | startswith($s + "."))) | .ns]
		| add // 0' "$json"
}

# is_near SEEN TRUTH QUEUE STEAL: within 1 % or 1 ms. A program that times its own wait cannot
# tell the wait from the time for which it then waited for a CPU; dwell can, and QUEUE is that.
# Its CPU clock does not count what the hypervisor took; to dwell that is on-CPU: STEAL.
is_near() {
	awk -v seen="$1" -v truth="$2" -v queue="$3" -v steal="$4" 'BEGIN {
		slack = truth / 100 > 1000000 ? truth / 100 : 1000000
		print "dwell " seen " (run queue " queue ", steal " steal "), itself " truth
		exit !(seen <= truth + slack + steal && seen + queue >= truth - slack) }'
}

steal_ns() { awk -v hz="$(getconf CLK_TCK)" '/^cpu / { printf "%.0f", $9 * 1e9 / hz }' /proc/stat; }

# each_thread FILTER: true of every thread
each_thread() { jq -e "[.processes[].threads[] | $1] | all" "$json"; }

run_oracle() {
	local name=$1 state ns queue steal
	shift
	steal=$(steal_ns)
	timeout 60 "$DWELL" run --json -- "$TOOLS/workloads/oracle" "$name" >"$work/truth" 2>"$json"
	check "$name: the command's status passes through" test $? -eq 0
	check "$name: parts - wall = 0 ns on each of $(jq '[.processes[].threads[]] | length' "$json") threads" each_thread \
		'([.ledger[].ns] | add) == .wall_ns'
	check "$name: unattributed is at most 0.1 % ($(jq .quality.unattributed_ns "$json") ns)" jq -e \
		'.quality.unattributed_ns * 1000 <= .quality.wall_ns' "$json"
	check "$name: 'other' is at most 1 %" jq -e --argjson other "$(sums blocked.other)" \
		'$other * 100 <= .quality.wall_ns' "$json"
	check "$name: no record was lost" jq -e '.quality.lost | add == 0' "$json"
	if [ "$(jq .quality.missed_switches "$json")" -eq 0 ]; then
		check "$name: switches are the kernel's own count" each_thread \
			'.voluntary == .kernel_voluntary and .involuntary == .kernel_involuntary'
	else
		echo "# $name: $(jq .quality.missed_switches "$json") switches never reached dwell, and are counted"
	fi
	steal=$(($(steal_ns) - steal))
	queue=$(($(sums runq.woken) + $(sums runq.preempted)))
	while read -r state ns; do
		case $state in cpu | blocked.*) ;; *) continue ;; esac
		[ "$state" = cpu ] && queue=0 || steal=0 # its clock stops when it does not run
		check "$name: $state is what it measured itself: $(is_near "$(sums "$state")" "$ns" $queue $steal)" \
			is_near "$(sums "$state")" "$ns" $queue $steal
	done <"$work/truth"
}

for oracle in sleep pipe mutex spin tcp epoll faults syscalls fdatasync migrate forks threads; do
	run_oracle $oracle
done
check "threads: all 2001 are there" test "$(jq '[.processes[].threads[]] | length' "$json")" -eq 2001

# pipes are never called disk; a disk's waits are
run_oracle pipe
check "pipe: none of its waits is a disk's" jq -e \
	'[.processes[].threads[] | select(.comm == "oracle") | .ledger[] | select(.state == "blocked.disk") | .ns] | add // 0 | . < 5000000' "$json"

check "own pid namespace: the same" unshare --pid --fork "$DWELL" run --json -- "$TOOLS/workloads/oracle" sleep
check "the exit status passes through" sh -c "'$DWELL' run -q -- sh -c 'exit 42'; test \$? -eq 42"
check "a signal is 128 + its number" sh -c "'$DWELL' run -q -- sh -c 'kill -9 \$\$'; test \$? -eq 137"
check "stdout is the command's alone" sh -c "test \"\$('$DWELL' run -- echo hi 2>/dev/null)\" = hi"
check "a command that is not there is 127" sh -c "'$DWELL' run -- /no/such/thing 2>/dev/null; test \$? -eq 127"
check "no command is wrong usage" sh -c "'$DWELL' run 2>/dev/null; test \$? -eq 64"
check "its report has no line beyond 80 columns" sh -c \
	"'$DWELL' run -- true 2>&1 | awk 'length(\$0) > 80 { print; bad = 1 } END { exit bad }'"
finish
