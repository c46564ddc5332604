#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# -s tcp against programs that know their own truth, and against the kernel's own counters.
# timing: times of connections are compared with the program's own clock
. tests/lib.sh
need_root

work=$(mktemp -d)
json=$work/report.json
oracle=$(realpath "$TOOLS/workloads/oracle")
dwell=$(realpath "$DWELL")
giver=dwell-give-$$
taker=dwell-take-$$
end() {
	ip netns del $giver 2>/dev/null
	ip netns del $taker 2>/dev/null
	rm -rf "$work"
}
trap end EXIT

# run_oracle NAME [COMMAND...]: its truth is in $work/truth, the report in $json
run_oracle() {
	local name=$1
	shift
	timeout 60 "$@" "$dwell" run -s tcp --json --no-stacks -- "$oracle" "$name" >"$work/truth" 2>"$json"
	check "$name: the command's status passes through" test $? -eq 0
}

truth() { awk -v key="$1" '$1 == key { sum += $2 } END { printf "%.0f", sum }' "$work/truth"; }

# total KIND WHAT [FILTER]: of all its series
total() { jq "[.signals.tcp[] | select(.kind == \"$1\") | select(${3:-true}) | .$2] | add // 0" "$json"; }

# is_near SEEN TRUTH COUNT DELAYED: within 2 %, or 100 us for each, which is what a thread takes to run again once it is
# woken; times are 20 ms each and more. By DELAYED, what the program waited for a CPU before it looked at its clock, dwell's
# time may be less.
is_near() {
	awk -v seen="$1" -v truth="$2" -v count="$3" -v delayed="$4" 'BEGIN {
		off = seen > truth ? seen - truth : truth - seen - delayed
		exit !(truth > 0 && (off <= truth * 0.02 || off <= count * 100000))
	}'
}

# is_within_call SEEN TRUTH COUNT: a part of the call's own time. On the loopback connect() takes some 50 us, most of it
# for what comes after the answer: the peer's side of the connection. No answer takes less than 5 us.
is_within_call() { [ "$1" -le "$2" ] && [ "$1" -ge $(($3 * 5000)) ]; }

# is_time NAME KIND COUNT: count and time are the oracle's own
is_time() {
	local seen count
	seen=$(total "$2" sum_ns)
	count=$(total "$2" count)
	check "$1: $count $2" test "$count" -eq "$3"
	check "$1: $2 of $seen ns is $(truth "$2")" is_near "$seen" "$(truth "$2")" "$3" "$(truth "$2.delayed")"
}

# is_exactly WHAT SEEN TRUTH
is_exactly() { check "$1: dwell $2, truth $3" test "$2" -eq "$3"; }

run_reply() {
	local count
	run_oracle tcp-reply
	count=$(truth connections)
	is_exactly "tcp-reply: connects" "$(total connect count)" "$count"
	check "tcp-reply: connect of $(total connect sum_ns) ns is a part of the call's $(truth connect)" \
		is_within_call "$(total connect sum_ns)" "$(truth connect)" "$count"
	is_time tcp-reply first_reply "$count"
	check "tcp-reply: as many lifetimes, closed by the one who called" test \
		"$(total lifetime count '.end == "closed by us"')" -eq "$count"
	check "tcp-reply: the other end was closed by its peer" test \
		"$(total lifetime count '.end == "closed by peer"')" -eq "$count"
	# Both ends are here: what one has sent, the other has received.
	is_exactly "tcp-reply: bytes sent" "$(total sent sum_bytes '(.peer | startswith("listening") | not)')" "$(truth sent)"
	is_exactly "tcp-reply: bytes received" \
		"$(total received sum_bytes '(.peer | startswith("listening") | not)')" "$(truth received)"
	is_exactly "tcp-reply: bytes that the server sent" \
		"$(total sent sum_bytes '(.peer | startswith("listening"))')" "$(truth received)"
	check "tcp-reply: both ends of each are in the list" jq -e --argjson count "$count" \
		'[.lists.tcp.connections[] | select(.sent_bytes + .received_bytes == 4000)] | length == 2 * $count' "$json"
	check "tcp-reply: nothing is unmatched" jq -e \
		'[.signals.tcp[].unmatched | .orphan_start + .orphan_end + .expired] | add == 0' "$json"
}

run_queue() {
	run_oracle tcp-queue
	is_time tcp-queue accept_wait 20
}

run_ends() {
	run_oracle tcp-ends
	is_exactly "tcp-ends: resets by us" "$(total lifetime count '.end == "reset by us"')" "$(truth reset)"
	is_exactly "tcp-ends: resets by the peer" "$(total lifetime count '.end == "reset by peer"')" "$(truth reset)"
	is_exactly "tcp-ends: refused connections" \
		"$(total connect_failed count '.error == "ECONNREFUSED"')" "$(truth refused)"
}

# netstat FILE NAME: a counter of this kind of network namespace's, as /proc/net has it
counter() {
	awk -v group="$2:" -v name="$3" '$1 == group && !head { for (i = 2; i <= NF; i++) at[$i] = i; head = 1; next }
		$1 == group { print $(at[name]) }' "$1"
}

# In a network of its own, whose counters are its alone.
run_overflow() {
	cat >"$work/inside" <<-END
		ip link set lo up
		"$dwell" run -s tcp --json --no-stacks -- "$oracle" tcp-overflow >"$work/truth" 2>"$json"
		cp /proc/net/netstat "$work/netstat"
	END
	timeout 60 unshare --net sh -e "$work/inside"
	check "tcp-overflow: it ran" test $? -eq 0
	check "tcp-overflow: it timed out" test "$(truth errno)" -eq 110
	is_time tcp-overflow connect_failed 1
	check "tcp-overflow: with the errno" test "$(total connect_failed count '.error == "ETIMEDOUT"')" -eq 1
	is_exactly "tcp-overflow: what the listener dropped" "$(total listen_drops sum)" \
		"$(counter "$work/netstat" TcpExt ListenOverflows)"
	is_exactly "tcp-overflow: connections that nobody accepted" \
		"$(jq '[.signals.tcp[] | select(.kind == "accept_wait") | .unmatched.orphan_start] | add // 0' "$json")" 2
}

# Two networks, a cable, and a loss of one packet in 50 both ways.
make_networks() {
	ip netns add $giver && ip netns add $taker || return
	ip -n $giver link add veth0 type veth peer name veth0 netns $taker || return
	ip -n $giver address add 10.77.0.1/24 dev veth0 && ip -n $taker address add 10.77.0.2/24 dev veth0 || return
	# A packet is a segment: how many are lost does not depend on how many the sender puts together.
	ip -n $giver link set veth0 gso_max_segs 1 || return
	ip -n $giver link set veth0 up && ip -n $taker link set veth0 up || return
	ip netns exec $giver "$TOOLS/lossy" veth0 50 && ip netns exec $taker "$TOOLS/lossy" veth0 50
}

# retransmits PORT: of those whose own port is this, or is not
retransmits() { jq "[.lists.tcp.connections[] | select((.local | endswith(\":7077\")) == $1) | .retransmits] | add // 0" "$json"; }

run_lossy() {
	local give take
	if ! make_networks 2>"$work/why"; then
		echo "ok - retransmits # SKIP no networks can be made here: $(head -1 "$work/why")"
		return
	fi
	# shellcheck disable=SC2016 # of the shell inside
	timeout 60 "$dwell" run -s tcp --json --no-stacks -- sh -c 'ip netns exec "$0" "$2" tcp-give & sleep 0.2
		ip netns exec "$1" "$2" tcp-take; wait; sleep 1' $giver $taker "$oracle" >"$work/truth" 2>"$json"
	check "retransmits: the transfers are done" test "$(truth received)" -gt 0
	ip netns exec $giver cat /proc/net/snmp /proc/net/netstat >"$work/give"
	ip netns exec $taker cat /proc/net/snmp /proc/net/netstat >"$work/take"
	give=$(counter "$work/give" Tcp RetransSegs)
	take=$(counter "$work/take" Tcp RetransSegs)
	check "retransmits: there were some" test "$give" -gt 20
	is_exactly "retransmits of the giver, against RetransSegs" "$(retransmits true)" "$give"
	is_exactly "retransmits of the taker, against RetransSegs" "$(retransmits false)" "$take"
	is_exactly "retransmits, as counted when they happen" "$(total retransmits sum)" $((give + take))
	is_exactly "bytes, each once" "$(jq '[.lists.tcp.connections[] | select(.local | endswith(":7077"))
		| .sent_bytes] | add' "$json")" "$(truth sent)"
}

# Fifty thousand sockets at a time: each is counted, within the room that is promised.
run_many() {
	timeout 60 "$dwell" run -q -o "$work/many.dwell" -s tcp --no-stacks -- "$oracle" tcp-many >"$work/truth"
	check "tcp-many: it ran" test $? -eq 0
	"$dwell" report --json "$work/many.dwell" >"$json"
	is_exactly "tcp-many: connects" "$(total connect count)" "$(truth connections)"
	is_exactly "tcp-many: accepted" "$(total accept_wait count)" "$(truth connections)"
	is_exactly "tcp-many: lifetimes of both ends" "$(total lifetime count)" $((2 * $(truth connections)))
	check "tcp-many: no more than 64 MB of maps, 100 MB resident" test "$(sqlite3 "$work/many.dwell" \
		'SELECT max(map_bytes) <= 64e6 AND max(rss_bytes) <= 100e6 FROM overhead')" = 1
}

# What was there before, and is there after.
run_open() {
	local pid
	"$oracle" tcp-open &
	pid=$!
	sleep 0.3
	timeout 30 "$dwell" record -q -s tcp --no-stacks -p $pid -d 2 -o "$work/open.dwell"
	check "tcp-open: it is recorded" test $? -eq 0
	kill $pid
	wait $pid 2>/dev/null
	"$dwell" report --json "$work/open.dwell" >"$json"
	check "tcp-open: both ends are in the list, and are open" jq -e \
		'[.lists.tcp.connections[] | select(.ended == "open") | .direction] | sort == ["in", "out"]' "$json"
	# The two ends are read one after the other, and every 20 ms there are 1,000 more.
	check "tcp-open: their bytes are the same, but for one write of 1,000" jq -e '.lists.tcp.connections
		| map({key: .direction, value: .}) | from_entries
		| .out.sent_bytes >= 1000 and (.in.received_bytes - .out.sent_bytes | fabs) <= 1000' "$json"
	check "tcp-open: round trips were taken meanwhile" test "$(total rtt count)" -ge 2
}

run_reply
run_open
run_many
run_queue
run_ends
run_overflow
run_lossy
finish
