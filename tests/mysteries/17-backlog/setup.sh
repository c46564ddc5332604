# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # names are shared between run.sh, lib.sh and setup.sh
setup() {
	spawn server "$programs/backlog" server 28170
	until_listening 28170 || return
	spawn client "$programs/backlog" client 28170
	sample "overflows=snmp:/proc/net/netstat:TcpExt:ListenOverflows" "drops=snmp:/proc/net/netstat:TcpExt:ListenDrops"
	sleep 1
}
