#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What dwell's Tier A costs per context switch, against the least that any ledger would: the floor
# programs on the same hooks (floor.bpf.c). Counted are the programs at the switch alone, and all that run
# for one: at the wake-up before it and at its end, too. Both are attached at once and see the same switches,
# of two processes with a pipe on one CPU; the kernel's own clock on the programs measures them.
. bench/lib.sh
need_tools bpftool jq

# Inside, while both are attached: notes the programs' counters before and after. --inside FOLDER [PID
# of dwell, else its parent is]
if [ "${1:-}" = --inside ]; then
	sed -n 's/^prog_id:[[:space:]]*//p' /proc/"${3:-$PPID}"/fdinfo/* | sort -u >"$2/ids"
	bpftool prog show -j >"$2/before"
	taskset -c 0 "$ORACLE" pingpong >"$2/truth"
	bpftool prog show -j >"$2/after"
	exit 0
fi

# per_program: "program ns runs" of those that are dwell's, and of the floor's
per_program() {
	jq -rn --slurpfile before "$work/before" --slurpfile after "$work/after" --slurpfile ids "$work/ids" '
		($before[0] | map({key: "\(.id)", value: .}) | from_entries) as $old
		| $after[0][]
		| select((.name // "" | startswith("floor_")) or (.id | IN($ids[])))
		| $old["\(.id)"] as $o
		| "\(.name) \((.run_time_ns // 0) - ($o.run_time_ns // 0)) \((.run_cnt // 0) - ($o.run_cnt // 0))"'
}

# note_costs PREFIX: of each program per run, and of all together per switch
note_costs() {
	local name ns runs all=0 floor=0 switches=0
	while read -r name ns runs; do
		[ "$runs" -gt 1000 ] || continue
		note "$1$name" "$(awk "BEGIN { print $ns / $runs }")"
		case $name in
		floor_empty) ;;
		floor_*)
			floor=$((floor + ns))
			[ "$name" != floor_switch ] || switches=$runs
			;;
		*) all=$((all + ns)) ;;
		esac
	done < <(per_program)
	[ "$switches" -gt 0 ] || give_up "the floor program saw no switch"
	[ "$all" -gt 0 ] || give_up "dwell's programs did not run"
	note "$1all-per-switch" "$(awk "BEGIN { print $all / $switches }")"
	note "$1floor-per-switch" "$(awk "BEGIN { print $floor / $switches }")"
}

of_a_command() {
	# shellcheck disable=SC2046 # an option is two words, or none
	"$FLOOR" "$DWELL" run $(tier A) -q -- "$0" --inside "$work" || give_up "dwell run failed"
	note_costs command-
}

of_the_host() {
	start_recorder
	"$FLOOR" "$0" --inside "$work" "$recorder"
	note_costs host-
	stop_recorder
}

# net_of_clock PREFIX: the same without what measuring adds, which an empty program shows
net_of_clock() {
	paste "$work/$1ledger_switch.values" "$work/$1floor_switch.values" "$work/$1floor_empty.values" |
		awk '$2 > $3 { print ($1 - $3) / ($2 - $3) }' >"$work/$1net.values"
	echo "  less the empty program, which is the clock's own cost, it is $(median "$1net") times the floor"
	rm "$work/$1net.values"
}

# tell PREFIX TEXT
tell() {
	local values
	divide "$1together" "$1all-per-switch" "$1floor-per-switch"
	goal "$1together" "<=" 3.0 "Tier A with stacks on $2, all programs of a switch over the floor's at the same hooks"
	divide "$1ratio" "$1ledger_switch" "$1floor_switch"
	goal "$1ratio" "<=" 3.0 "Tier A on $2, its switch over the floor's"
	divide "$1to-one" "$1all-per-switch" "$1floor_switch"
	echo "  all programs of a switch are $(median "$1to-one") times the floor of the switch alone"
	net_of_clock "$1"
	rm "$work/$1together.values" "$work/$1ratio.values" "$work/$1to-one.values"
	for values in "$work/$1"*.values; do
		show "$(basename "$values" .values)" "ns"
	done
}

kinds=(of_a_command)
dwell_knows record && kinds+=(of_the_host)
interleave "${kinds[@]}"
tell command- "one command"
if dwell_knows record; then
	tell host- "the whole host"
else
	echo "# this dwell has no 'record': no figure for the whole host"
fi
exit $status
