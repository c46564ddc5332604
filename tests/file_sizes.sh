#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# file_sizes.sh DIR: fails where a source file has more than 450 lines, or half of the .c files more than 220.

set -u
cd "${1:-.}" || exit 1

LINES_MAX=450
MEDIAN_MAX=220

bad=0
while read -r lines file; do
	if [ "$lines" -gt "$LINES_MAX" ]; then
		echo "$file: $lines lines, at most $LINES_MAX: give one of its ideas a file of its own" >&2
		bad=$((bad + 1))
	fi
done < <(find abi bpf records signals src -name '*.[ch]' -exec wc -l {} + | grep -v ' total$')

mapfile -t sizes < <(find bpf records signals src -name '*.c' -exec sh -c 'wc -l <"$1"' sh {} \; | sort -n)
if [ "${#sizes[@]}" -eq 0 ]; then
	echo "no source was found below $(pwd): is this dwell's?" >&2
	exit 1
fi
median=${sizes[$(((${#sizes[@]} - 1) / 2))]}
if [ "$median" -gt "$MEDIAN_MAX" ]; then
	echo "half of the .c files have $median lines or more, at most $MEDIAN_MAX: files hold too many ideas" >&2
	bad=$((bad + 1))
fi
[ "$bad" -eq 0 ] && echo "ok - ${#sizes[@]} .c files, half of them up to $median lines, none over $LINES_MAX"
