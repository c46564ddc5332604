#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A low limit of open files: a true sentence, the right status, and the next run works. The command gets the limit
# that dwell was started with.
. tests/lib.sh
need_root

work=$(mktemp -d -p "${BUILD:-build}")
trap 'rm -rf "$work"' EXIT
dwell=$(realpath "$DWELL")

# refused LIMIT: it says so and why, and ends with 77; it may also have descriptors enough
refused() {
	local status
	rm -f "$work"/x.dwell*
	(ulimit -n "$1" && cd "$work" && "$dwell" run -q -o x.dwell -- true) >"$work/said" 2>&1
	status=$?
	cat "$work/said"
	[ $status -eq 0 ] && [ -e "$work/x.dwell" ] && [ ! -s "$work/said" ] && return
	[ $status -eq 77 ] && grep -q 'ulimit -n' "$work/said" && ! grep -q '/proc is not mounted\|verifier\|report it' "$work/said" &&
		[ ! -e "$work/x.dwell" ]
}
works() { "$dwell" run -o "$work/y.dwell" -q -- true; }

for limit in ${LIMITS:-8 10 14 19 22 28 38 57 75 100 150}; do
	check "ulimit -n $limit: the limit is named, nothing is left behind" refused "$limit"
done
check "the next run works" works
check "and the next but one" works
doctor_names_it() {
	local status
	(ulimit -n "$1" && exec "$dwell" doctor) >"$work/said" 2>&1
	status=$?
	cat "$work/said"
	[ $status -eq 77 ] && grep -q 'ulimit -n' "$work/said" && ! grep -q '/proc is not mounted' "$work/said"
}
for limit in 12 22 60; do
	check "the doctor under ulimit -n $limit names it" doctor_names_it "$limit"
done
check "the command has the soft limit that dwell was started with" sh -c "
	test \"\$(ulimit -Sn 256; '$dwell' run -q -- sh -c 'ulimit -Sn')\" = 256"
finish
