# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # names are shared between run.sh, lib.sh and setup.sh
setup() {
	make_disk 600 || return
	spawn append "$programs/append" "$disk/journal.log"
	sample "device_ms=column:/sys/block/$(basename "$loop")/stat:7"
	say device "$(basename "$loop")"
}
