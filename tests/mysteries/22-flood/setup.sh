# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # names are shared between run.sh, lib.sh and setup.sh
# Packets arrive over a veth pair whose other end is in a namespace of its own; receive packet steering hands them to
# CPU 1, where the service runs.
setup() {
	local ns=dwell-mystery-22
	ip netns add $ns || return
	defer ip netns del $ns
	ip link add dwm22 type veth peer name dwm22p netns $ns || return
	defer ip link del dwm22
	ip addr add 10.255.22.1/30 dev dwm22 && ip link set dwm22 up || return
	ip -n $ns addr add 10.255.22.2/30 dev dwm22p && ip -n $ns link set dwm22p up || return
	echo 2 >/sys/class/net/dwm22/queues/rx-0/rps_cpus || return
	say device dwm22
	spawn service "$programs/flood" service 28220
	service=$spawned
	spawn sender ip netns exec $ns nice -n -15 taskset -c 0 "$programs/flood" 10.255.22.1 28220 120
	sample "softirq=softirq:1" "delay=delay:$service" "packets=column:/sys/class/net/dwm22/statistics/rx_packets:0"
	sleep 0.5
}
