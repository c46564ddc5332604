# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # names are shared between run.sh, lib.sh and setup.sh
setup() {
	say before 1
	say after 128
	before=(env "TRUTH=$truth/before.log" "$programs/pages" 30000 1)
	after=(env "TRUTH=$truth/after.log" "$programs/pages" 30000 128)
}
