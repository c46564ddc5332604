# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # names are shared between run.sh, lib.sh and setup.sh
setup() {
	local i path=
	for i in $(seq 16); do
		mkdir "$work/plugins-$i"
		path=$path${path:+:}$work/plugins-$i
	done
	cp "$programs/libgreet.so" "$work/plugins-16/" || return
	target=(env "LD_LIBRARY_PATH=$path" "TRUTH=$truth/plugins.log" "$programs/plugins" "$seconds")
}
