# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # names are shared between run.sh, lib.sh and setup.sh
setup() {
	spawn server "$programs/request" server 28090
	until_listening 28090 || return
	spawn client "$programs/request" client 28090
	sleep 1
}
