#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What only shows with time: twenty million records through the pipeline, and the doctor again
# and again.
. tests/lib.sh
need_root
mount_tracefs
PATH=$PATH:/usr/sbin

programs() { bpftool prog list -j | jq length; }
same_programs() { sleep 1; test "$(programs)" -eq "$before"; }
doctor_again_and_again() {
	for _ in $(seq 20); do
		"$DWELL" doctor >/dev/null || return
	done
}

before=$(programs)
"$TOOLS/storm" 20000000 none || failures=$((failures + 1))
check "the doctor works twenty times in a row" doctor_again_and_again
check "the kernel holds as many programs as before" same_programs
finish
