#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Locks of programs that know how often and how long they waited for each, and who held it where.
# timing: waits are compared with the program's own clock, and what is wrong with a lock is judged by how long they took
. tests/lib.sh
need_root

work=$(mktemp -d)
json=$work/report.json
oracle=$(realpath "$TOOLS/workloads/oracle")
trap 'rm -rf "$work"' EXIT

# record_oracle WORKLOAD [OPTION...]: its session and report in $work, what it says of itself in $work/truth
record_oracle() {
	local workload=$1
	shift
	timeout 60 "$DWELL" record -s locks "$@" -o "$work/a.dwell" -- "$oracle" "$workload" >"$work/truth" 2>"$work/err"
	check "$workload: it is recorded" test $? -eq 0
	"$DWELL" report --json "$work/a.dwell" >"$json"
}

# told NAME FIELD: of the oracle's line about a lock; 3 is its address, 4 how often, 5 how long
told() { awk -v name="$1" -v field="$2" '$1 == "lock" && $2 == name { print $field }' "$work/truth"; }
truth() { awk -v key="$1" '$1 == key { sum += $2 } END { printf "%.0f", sum }' "$work/truth"; }

# seen KIND NAME FIELD: of all series of that kind whose lock's name begins with this
seen() {
	jq -r --arg kind "$1" --arg name "$2" "[.signals.locks[] | select(.kind == \$kind and
		((.lock // \"\") | startswith(\$name))) | .$3 // 0] | add // 0" "$json"
}

says() { jq -e --arg text "$1" '[.remarks.locks[] | select(test($text))] | length > 0' "$json"; }
does_not_say() { ! says "$1"; }

# near VALUE TRUTH COUNT: within 2 %, or 100 us for each of so many, which is what a thread takes to run again once it
# is woken: that is in the program's time, and not in dwell's. Locks are held for 3 ms or longer here.
near() {
	awk -v v="$1" -v t="$2" -v n="$3" 'BEGIN { d = v > t ? v - t : t - v; if (d <= t * 0.02 || d <= n * 1e5) exit 0;
		print v " is not near " t; exit 1 }'
}

# between VALUE LEAST MOST
between() {
	awk -v v="$1" -v a="$2" -v b="$3" 'BEGIN { if (v >= a && v <= b) exit 0;
		print v " is not between " a " and " b; exit 1 }'
}

# is VALUE TRUTH: also where switches never reached dwell, which it tells
is() { [ "$1" = "$2" ] || { echo "$1, not $2; $(jq .quality.missed_switches "$json") switches were missed"; return 1; }; }

# has_stack KIND LOCK FUNCTION...: most stacks of that kind have all of these functions; the first ones may
# be taken before its tables are there
has_stack() {
	local kind=$1 lock=$2
	shift 2
	jq -e --arg kind "$kind" --arg lock "$lock" '[.signals.locks[] | select(.kind == $kind and
		((.lock // "") | startswith($lock)))] | ([.[].count] | add) as $all |
		[.[] | select((.stack // "") as $stack | all($ARGS.positional[]; . as $name | $stack | contains($name))) |
		.count] | (add // 0) * 2 > $all' "$json" --args "$@"
}

# --- two mutexes: which, how often, how long, where, held by whom and where ---

record_oracle two-locks
for x in a b; do
	lock=known_lock_$x
	address=$(told $lock 3)
	check "two-locks: $lock has its name and address" jq -e --arg lock "$lock ($address)" \
		'any(.signals.locks[]; .kind == "wait" and .lock == $lock and .type == "futex")' "$json"
	check "two-locks: $lock: each wait is counted" is "$(seen wait $lock count)" "$(told $lock 4)"
	check "two-locks: $lock: for as long as it was" \
		near "$(seen wait $lock sum_ns)" "$(told $lock 5)" "$(told $lock 4)"
	check "two-locks: $lock: its holder had it meanwhile" \
		near "$(seen held $lock sum_ns)" "$(seen wait $lock sum_ns)" "$(told $lock 4)"
	# What it does between its sleep and the unlock, it does on a CPU: hence not all of it.
	check "two-locks: $lock: of which it slept, or waited for a CPU, 90 % or more" between "$(jq -n \
		"($(seen held_blocked $lock sum_ns) + $(seen held_runq $lock sum_ns)) / $(seen held $lock sum_ns)")" 0.9 1.001
	check "two-locks: $lock: one thread waited" test "$(seen waiter $lock sum)" = 1
	check "two-locks: $lock: where it waited" has_stack wait_stack $lock known_wait_$x pthread_mutex_lock
	check "two-locks: $lock: where its holder let go" has_stack holder_stack $lock known_hold_$x pthread_mutex_unlock
	check "two-locks: $lock: the holder is one, and known" jq -e --arg lock "$address" \
		'[.lists.locks.holders[] | select(.lock == $lock)] | length == 1 and .[0].holder > 0' "$json"
	check "two-locks: $lock: nobody holds it against itself" test "$(sqlite3 "$work/a.dwell" "SELECT count(*)
		FROM slow WHERE signal = 'locks' AND value0 = tid")" = 0
	check "two-locks: $lock: a long hold, by one who is blocked" says "^$lock .*long hold: 1 thread"
done
check "two-locks: nothing is unmatched or lost" jq -e 'all(.signals.locks[]; .unmatched | add == 0)
	and all(.shares[]; .folded + .lost == 0)' "$json"
check "two-locks: its JSON follows docs/report.schema.json" tests/schema.py docs/report.schema.json "$json"

# --- what is wrong with a lock ---

record_oracle long-hold
check "long-hold: each wait is counted" is "$(seen wait long_hold_lock count)" "$(told long_hold_lock 4)"
check "long-hold: as long as it was" \
	near "$(seen wait long_hold_lock sum_ns)" "$(told long_hold_lock 5)" "$(told long_hold_lock 4)"
check "long-hold: it is told as one" says "^long_hold_lock .*long hold: 2 threads waited 2[0-9][0-9] times"
check "long-hold: and not as a convoy" does_not_say convoy:

record_oracle convoy
count=$(told convoy_lock 4)
check "convoy: each of $count waits is counted" is "$(seen wait convoy_lock count)" "$count"
# Stacks are taken of some waits by chance, which differ in length: hence half to one and a half.
check "convoy: some stand for the stacks of all, within 50 %" \
	between "$(jq -n "$(seen wait_stack convoy_lock sum_ns) / $(seen wait convoy_lock sum_ns)")" 0.5 1.5
if [ "$(seen wait convoy_lock p95_ns)" -lt 1000000 ]; then
	check "convoy: it is told as one" says "^convoy_lock .*convoy: 5 threads"
	check "convoy: and not as a long hold" does_not_say "long hold"
else
	skip "convoy: it is told as one" "the machine is too busy: its holders wait for a CPU, and waits are long"
fi

record_oracle starved-holder
if ! grep -q '^# SKIP' "$work/truth"; then
	share=$(jq -n "100 * $(truth held_runq) / $(truth held)")
	got=$(jq -n "100 * $(seen held_runq 'starved (' sum_ns) / $(seen held 'starved (' sum_ns)")
	check "starved-holder: it had no CPU $got % of the time, by itself $share, within 3 points" \
		between "$got" "$(jq -n "$share - 3")" "$(jq -n "$share + 3")"
	check "starved-holder: that is said" says "its holders waited for a CPU for [4-9][0-9] % of the .* that they held it while others waited"
else
	skip starved-holder "$(sed -n 's/^# SKIP //p' "$work/truth")"
fi

record_oracle broadcast
check "broadcast: each is counted" test "$(seen broadcast herd count)" = "$(truth broadcasts)"
check "broadcast: with all whom it woke" test "$(seen broadcast herd sum)" = "$(truth woken)"
check "broadcast: they are named" says "^herd.*broadcasts woke 6.0 threads"

record_oracle one-by-one
check "one-by-one: the mutex is waited for" test "$(seen wait hands count)" -gt 100
check "one-by-one: who is woken one at a time is in no broadcast" test "$(seen broadcast '' count)" = "$(truth broadcasts)"

# --- files ---

record_oracle file-locks --slow 10ms
while read -r _ kind path holder count ns; do
	check "file-locks: $kind: its path and kind" jq -e --arg path "$path" --arg kind "$kind" \
		'any(.signals.locks[]; .kind == "file_wait" and .lock == $path and .type == $kind)' "$json"
	check "file-locks: $kind: each wait is counted" is "$(seen file_wait "$path" count)" "$count"
	check "file-locks: $kind: for as long as it was" near "$(seen file_wait "$path" sum_ns)" "$ns" "$count"
	check "file-locks: $kind: its holder is known" jq -e --arg path "$path" --argjson holder "$holder" \
		'[.lists.locks.holders[] | select(.lock == $path)] | length == 1 and .[0].holder == $holder' "$json"
	check "file-locks: $kind: single waits over 10 ms are told, with their holder" jq -e --arg path "$path" \
		--argjson holder "$holder" '[.slow[] | select(.signal == "locks" and .lock == $path)] |
		length > 0 and all(.[]; .ns >= 10000000 and .holder == $holder)' "$json"
	check "file-locks: $kind: where it waited" has_stack wait_stack "$path" contend
	check "file-locks: $kind: where its holder let go" has_stack holder_stack "$path" known_hold_file
done < <(grep '^file ' "$work/truth")
check "file-locks: there were three kinds" test "$(grep -c '^file ' "$work/truth")" -eq 3

# --- the kernel ---

record_oracle kernel-lock
if grep -qzx btf_trace_contention_begin /sys/kernel/btf/vmlinux; then
	check "kernel-lock: one is waited for, to be written" jq -e '[.signals.locks[] | select(.kind == "kernel_wait"
		and .type == "rwsem, write" and .comm == "oracle")] | length > 0 and .[0].count > 10' "$json"
	check "kernel-lock: for no longer than there was" between \
		"$(jq '[.signals.locks[] | select(.kind == "kernel_wait") | .sum_ns] | add' "$json")" 1 "$(truth most)"
else
	skip kernel-lock "this kernel does not tell: contention_begin is from 5.19"
fi

# --- thread pools ---

check "pools: threads of one name are one pool, and what they waited for sums up" jq -e \
	'[.lists.locks.pools[] | select(.name == "oracle")] | length == 1 and .[0].threads == 5
	and .[0].cpu_ns > 0 and all(.[0] | to_entries[] | select(.key | endswith("_ns")); .value >= 0)' "$json"

record_oracle spin
check "pools: more busy threads than CPUs lack these" jq -e 'any(.lists.locks.pools[]; .name == "oracle" and
	.lacks == "CPUs" and .runq_ns * 3 > .cpu_ns)' "$json"

# --- more than fit ---

record_oracle thousands-of-locks
# Up to five more: its two threads also wait for each other when they start and end.
check "thousands-of-locks: each wait is counted, there or among others, and five more at most" \
	between "$(jq '[.signals.locks[] | select(.kind == "wait") | .count] | add' "$json")" \
	"$(told many 4)" "$(($(told many 4) + 5))"
check "thousands-of-locks: others are said to be" jq -e '.shares[] | select(.signal == "locks") |
	.folded > 1000 and .lost == 0 and .used <= .places' "$json"
finish
