# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # names are shared between run.sh, lib.sh and setup.sh
# The same server as 02's; the table is larger, and the index is missing.
setup() {
	. tests/mysteries/02-gil/setup.sh
	shop 200000 'select 1' >/dev/null && serve 2000 4 || return
	sample "backends=exec:$(backends)" "postgres=cpu:$(pgrep -P "$postmaster" | paste -sd,),$postmaster"
}
