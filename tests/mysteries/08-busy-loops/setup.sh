# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # names are shared between run.sh, lib.sh and setup.sh
setup() {
	spawn svc taskset -c 1 "$programs/svc" 28080
	svc=$spawned
	until_listening 28080 || return
	spawn hog-a taskset -c 1 "$programs/hog"
	hogs=$spawned
	spawn hog-b taskset -c 1 "$programs/hog"
	hogs=$hogs,$spawned
	say hogs "$hogs"
	spawn load taskset -c 0 "$programs/load" 28080 1 2 /
	sleep 0.5
	sample "delay=delays:$svc" "exec=execs:$svc" "hog_a=exec:${hogs%,*}" "hog_b=exec:${hogs#*,}"
}
