#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What dwell's Tier A costs per context switch, against the least that any ledger would: the floor
# program on the same hook (floor.bpf.c). Both are attached at once and see the same switches, of two
# processes with a pipe on one CPU; the kernel's own clock on the programs measures them.
. bench/lib.sh
need_tools bpftool jq

# Inside, a child of dwell's: notes the programs' counters before and after.
if [ "${1:-}" = --inside ]; then
	bpftool prog show -j >"$2/before"
	taskset -c 0 "$ORACLE" pingpong >"$2/truth"
	bpftool prog show -j >"$2/after"
	exit 0
fi

count_bpf

# per_run DWELL'S-PID: "program ns runs" of the programs that are dwell's, and of the floor's
per_run() {
	jq -rn --slurpfile before "$work/before" --slurpfile after "$work/after" --argjson pid "$1" '
		($before[0] | map({key: (.id | tostring), value: .}) | from_entries) as $old
		| $after[0][]
		| select((.name // "" | startswith("floor_")) or ([.pids[]?.pid] | index($pid)))
		| ($old[.id | tostring] // {}) as $o
		| "\(.name) \((.run_time_ns // 0) - ($o.run_time_ns // 0)) \((.run_cnt // 0) - ($o.run_cnt // 0))"'
}

# note_costs PREFIX DWELL'S-PID
note_costs() {
	local name ns runs total=0 switches=0
	while read -r name ns runs; do
		[ "$runs" -gt 1000 ] || continue
		note "$1$name" "$(awk "BEGIN { print $ns / $runs }")"
		case $name in
		floor_switch) switches=$runs ;;
		floor_*) ;;
		*) total=$((total + ns)) ;;
		esac
	done < <(per_run "$2")
	[ "$switches" -gt 0 ] || give_up "the floor program saw no switch"
	note "$1all-per-switch" "$(awk "BEGIN { print $total / $switches }")"
}

pid_noter='echo $PPID >"$0/pid"; exec "$1" --inside "$0"'

of_a_command() {
	# shellcheck disable=SC2046 # an option is two words, or none
	BUILD=${BUILD:-build} "$FLOOR" "$DWELL" run $(tier A) -q -- bash -c "$pid_noter" "$work" "$0" ||
		give_up "dwell run failed"
	note_costs command- "$(cat "$work/pid")"
}

of_the_host() {
	local recorder
	"$DWELL" record -a --tier A -o "$work/host.dwell" >/dev/null 2>&1 &
	recorder=$!
	sleep 1
	"$FLOOR" "$0" --inside "$work"
	note_costs host- $recorder
	kill -INT $recorder
	wait $recorder
	rm -f "$work"/host.dwell*
}

# tell PREFIX TEXT
tell() {
	local values
	divide "$1ratio" "$1ledger_switch" "$1floor_switch"
	goal "$1ratio" "<=" 3.0 "$2"
	for values in "$work/$1"*.values; do
		values=$(basename "$values" .values)
		case $values in *ratio) ;; *) show "$values" "ns" ;; esac
	done
}

kinds=(of_a_command)
dwell_knows record && kinds+=(of_the_host)
interleave "${kinds[@]}"
tell command- "Tier A on one command, its switch over the floor's"
if dwell_knows record; then
	tell host- "Tier A on the whole host, its switch over the floor's"
else
	echo "# this dwell has no 'record': no figure for the whole host"
fi
exit $status
