#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Naming 10,000 addresses of a file: from the start of the process to its end, reading the file and
# demangling included, against addr2line on the same set. FILE is another file than the C++ library.
. bench/lib.sh
need_tools addr2line readelf shuf

NAMES=${BUILD:-build}/tests/names
FILE=${FILE:-$(ldconfig -p | awk '/libstdc\+\+\.so\.6 / { print $NF; exit }')}
[ -r "${FILE:-}" ] || give_up "needs libstdc++6, or FILE=PATH"

# 10,000 of its addresses, evenly over its code, in no order that would help anyone
readelf -SW "$FILE" | sed 's/\[ *//' | awk '$2 == ".text" { print $4, $6 }' | {
	read -r begin size
	for ((i = 0; i < 10000; i++)); do
		printf '%x\n' $((0x$begin + i * 0x$size / 10000))
	done
} | shuf --random-source=<(yes) >"$work/addresses"

# timed NAME COMMAND...: of the addresses, in ms
timed() {
	local name=$1 begin end
	shift
	begin=$(date +%s%N)
	"$@" <"$work/addresses" >"$work/$name.out" 2>"$work/$name.err" || give_up "$name failed: $(tail -1 "$work/$name.err")"
	end=$(date +%s%N)
	[ "$(wc -l <"$work/$name.out")" -ge 10000 ] || give_up "$name named too few"
	note "$name-ms" "$(((end - begin) / 1000))e-3"
}

dwell() {
	timed dwell "$NAMES" "$FILE"
	note look-up-ns "$(sed -n 's/.*named in \([0-9.]*\) ms/\1/p' "$work/dwell.err" | awk '{ print $1 * 100 }')"
}
addr2line_alike() { timed addr2line addr2line -f -C -e "$FILE"; }

interleave dwell addr2line_alike
divide speed addr2line-ms dwell-ms
goal speed ">=" 20 "addr2line -f -C over dwell, 10,000 addresses of $(basename "$FILE")"
show dwell-ms ms
show addr2line-ms ms
show look-up-ns ns
exit $status
