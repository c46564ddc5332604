#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sets of capabilities x the figures of the quality section: each figure is known, and right, or is said to be unknown.
. tests/lib.sh
need_root
mount_tracefs

work=$(mktemp -d)
stats=$(cat /proc/sys/kernel/bpf_stats_enabled)
trap 'echo "$stats" >/proc/sys/kernel/bpf_stats_enabled; rm -rf "$work"' EXIT
cp "$DWELL" "$work/dwell"
mkdir -m 777 "$work/out"
chmod 755 "$work" "$work/dwell"
echo 0 >/proc/sys/kernel/bpf_stats_enabled

# as SET COMMAND...: a user without a name, with these capabilities and no others
as() {
	local set=$1
	shift
	if [ "$set" = none ]; then
		setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@"
	else
		setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps="$set" --ambient-caps="$set" "$@"
	fi
}

# record SET NAME [OPTIONS]: a second of the host, with work in it; what was said is in $work/said
record() {
	local set=$1 file=$work/out/$2.dwell
	shift 2
	(while :; do /bin/true; done) &
	local busy=$!
	as "$set" "$work/dwell" record -a -d 1 -o "$file" "$@" >"$work/said" 2>&1
	local status=$?
	kill $busy
	wait $busy 2>/dev/null
	cat "$work/said"
	return $status
}
quality() { [ "$("$work/dwell" report --json "$work/out/$1.dwell" | jq ".quality as \$q | \$q.overhead as \$o | $2")" = true ]; }
text() { COLUMNS=1000 "$work/dwell" report "$work/out/$1.dwell"; }

# Without any: refused, with the reason, and nothing is left behind.
record none none
check "none: refused with 77" test $? -eq 77
check "none: what is missing is named" grep -q "lacks CAP_BPF and CAP_PERFMON" "$work/said"
check "none: no session is left" test ! -e "$work/out/none.dwell"

base=+bpf,+perfmon
for row in "two $base" "four $base,+dac_read_search,+sys_ptrace"; do
	name=${row% *} set=${row#* }
	check "$name: records" record "$set" "$name" --max-overhead 90
	check "$name: the limit is said to hold dwell's processes only" grep -q "max-overhead 90 limits the CPU time of dwell's own processes only" "$work/said"
	check "$name: cost in BPF is null, with the reason" quality "$name" \
		'$o.bpf_total_ns == null and ([$o.bpf_ns[]] | all(. == null)) and ($o.bpf_unknown | contains("CAP_SYS_ADMIN"))'
	check "$name: events of hooks are null" quality "$name" '[$q.hooks[] | .events, .bpf_ns, .rate] | all(. == null)'
	check "$name: the text says that it is not known" sh -c "$(declare -f text); work=$work text $name | grep -q 'overhead: not known in BPF'"
	check "$name: no hook is said to be silent" sh -c "$(declare -f text); ! work=$work text $name | grep -q 'attached but silent'"
done
all=$base,+dac_read_search,+sys_ptrace,+sys_admin # and CAP_SYS_RESOURCE, where this container has it
[ $((0x$(awk '/^CapPrm/ { print $2 }' /proc/self/status) >> 24 & 1)) -eq 0 ] || all=$all,+sys_resource
check "all: records" record $all all --max-overhead 90
check "all: no limit is said to be weaker" sh -c "! grep -q 'limits the CPU time' '$work/said'"
check "all: cost in BPF is known" quality all '$o.bpf_total_ns > 0 and $o.bpf_unknown == null and $o.bpf_ns.ledger_switch > 0'
check "all: so are events of hooks" quality all '[$q.hooks[] | select(.hook == "ledger_switch")][0] | .events > 0 and .rate > 0'

# Whoever may not switch the clock on uses it where it is on.
echo 1 >/proc/sys/kernel/bpf_stats_enabled
check "two, bpf_stats on for all: records" record $base sysctl
check "two, bpf_stats on for all: cost in BPF is known" quality sysctl '$o.bpf_total_ns > 0 and $o.bpf_unknown == null'
echo 0 >/proc/sys/kernel/bpf_stats_enabled

for name in two four all sysctl; do
	check "$name: what needs no clock is known, and closes" quality $name \
		'$q.closure_error_ns == 0 and $q.threads > 0 and $q.wall_ns > 0 and ([$q.lost[]] | add) == 0 and
		($q.checks | length) >= 3 and ([$q.checks[].within] | all)'
	check "$name: dwell's own CPU time, start and memory are known" quality $name \
		'$o.user_cpu_ns > 0 and $o.start_cpu_ns > 0 and $o.rss_bytes > 0 and $o.map_bytes > 0 and $o.thread_bytes > 0 and $o.ring_fill_max > 0'
	check "$name: stacks that could not be walked have a reason" quality $name \
		'$q.stacks.samples == $q.stacks.complete + ([$q.stacks.by_reason[]] | add)'
	"$work/dwell" report --json "$work/out/$name.dwell" >"$work/json"
	check "$name: JSON follows its schema" tests/schema.py docs/report.schema.json "$work/json"
done
finish
