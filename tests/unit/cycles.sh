#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Cycles between files are found, and large files: shown in trees made for it.
. tests/lib.sh

root=$PWD
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cc=${CC:-cc}

# sources FILE TEXT ...: makes a tree of these files, in src/part, and their objects
sources() {
	rm -rf "${tree:?}"/*
	mkdir -p "$tree/src/part" "$tree/obj/src/part"
	while [ $# -gt 0 ]; do
		echo "$2" >"$tree/src/part/$1.c"
		$cc -c -O2 "$tree/src/part/$1.c" -o "$tree/obj/src/part/$1.o" || exit 1
		shift 2
	done
	echo "$allowed" >"$tree/allowed"
}
verdict() { (cd "$tree" && "$root/tests/cycles.py" obj allowed >out 2>&1); }
accepts() { sources "$@" && verdict; }
refuses() {
	local line=$1
	shift
	sources "$@" && ! verdict && grep -qF "$line" "$tree/out"
}

allowed=
one=(a 'int b(void); int a(void) { return b(); }')
check "files that need each other one way are no cycle" accepts "${one[@]}" b 'int b(void) { return 1; }'
two=("${one[@]}" b 'int a(void); int b(void) { return a(); }')
check "two functions that call each other are a cycle" \
	refuses "src/part: 2 files need each other in a circle" "${two[@]}"
check "it is told by which symbols" refuses "a.c needs b.c: b" "${two[@]}"
check "so is a table of functions" refuses "b.c needs a.c: a" "${one[@]}" \
	b 'int a(void); int (*const table[])(void) = {a}; int b(void) { return 1; }'
check "so is data" refuses "b.c needs a.c: data" a 'int b(void); int data = 1; int a(void) { return b(); }' \
	b 'extern int data; int b(void) { return data; }'
check "so is a circle of three" refuses "src/part: 3 files" "${one[@]}" \
	b 'int c(void); int b(void) { return c(); }' c 'int a(void); int c(void) { return a(); }'
check "a function of one file is none of its namesake's" accepts "${one[@]}" \
	b 'static int a(void) { return 1; } int b(void) { return a(); }'

allowed='src/part: a.c b.c: they are one machine'
check "a cycle with a reason is allowed" accepts "${two[@]}"
check "a reason without a cycle is refused" refuses "remove the line" "${one[@]}" b 'int b(void) { return 1; }'
allowed='src/part: a.c b.c:'
check "a line without a reason is refused" refuses "not 'FOLDER: FILE FILE ...: REASON'" "${two[@]}"

sizes() {
	mkdir -p "$tree"/{abi,bpf,signals,src} && yes | head -n "$1" >"$tree/src/long.c" &&
		tests/file_sizes.sh "$tree" >"$tree/out" 2>&1
}
too_long() { ! sizes "$@" && grep -q "^src/long.c: $1 lines" "$tree/out"; }
half_too_long() { ! sizes "$@" && grep -q "^half of the .c files have $1 lines" "$tree/out"; }
rm -rf "${tree:?}"/*
check "a file of 220 lines is short enough" sizes 220
check "a file of 451 lines is too long" too_long 451
check "half of all files may not be longer than 220" half_too_long 221
finish
