#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What -s alloc adds to a call of malloc, over what a program at the same place adds that does nothing.
. bench/lib.sh

# The least of a thousand times a thousand calls, by the program's own clock
each() { "$@" 2>/dev/null | awk '$1 == "least.alloc_many" { print $2 / 1000 }'; }
libc=$(ldd "$ORACLE" | awk '$1 ~ /^libc\.so/ { print $3 }')
[ -n "$libc" ] || give_up "the test program has no C library"

alone() { note alone "$(each "$ORACLE" alloc-storm)"; }
empty() { note empty "$(each "${BUILD:-build}/bench/empty" "$libc" malloc "$ORACLE" alloc-storm)"; }
dwell() {
	note dwell "$(each "$DWELL" record -q --tier A -s alloc --force -o "$work/a.dwell" -- "$ORACLE" alloc-storm)"
}

interleave alone empty dwell
paste "$work/alone.values" "$work/empty.values" "$work/dwell.values" |
	awk '{ printf "%.6g\n", ($3 - $1) / ($2 - $1) }' >"$work/alloc.values"
goal alloc "<=" 1.5 "what a call of malloc costs more, over an empty program's"
show alone ns
show empty ns
show dwell ns
exit $status
