# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # names are shared between run.sh, lib.sh and setup.sh
# The service is 08's.
setup() {
	spawn svc taskset -c 1 "$programs/svc" 28190
	svc=$spawned
	until_listening 28190 || return
	spawn rtloop taskset -c 1 "$programs/rtloop"
	rtloop=$spawned
	spawn load taskset -c 0 "$programs/load" 28190 1 2 /
	sleep 0.5
	grep -q '^policy.*: *1$' "/proc/$rtloop/sched" || { fail "rtloop has no SCHED_FIFO: $(cat "$work/rtloop.out")"; return; }
	sample "delay=delays:$svc" "exec=execs:$svc" "fifo=exec:$rtloop"
}
