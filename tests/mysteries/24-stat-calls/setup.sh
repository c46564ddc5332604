# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # names are shared between run.sh, lib.sh and setup.sh
setup() {
	say before 1
	say after 128
	# shellcheck disable=SC2034 # for diff, when it is there: the same service before and after
	before=(env "TRUTH=$truth/before.log" "$programs/pages" 2000 1)
	# shellcheck disable=SC2034
	after=(env "TRUTH=$truth/after.log" "$programs/pages" 2000 128)
}
