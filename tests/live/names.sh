#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Names, lines and inlined functions are those that others find, much slower.
. tests/lib.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/program.cc" <<'END'
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace deep {
struct base {
	virtual ~base() {}
	virtual int go(int) = 0;
};
template <class T> struct thing : base {
	std::vector<T> values;
	int go(int n) override
	{
		for (int i = 0; i < n; i++)
			values.push_back(T(i));
		std::sort(values.begin(), values.end(), [](const T &a, const T &b) { return b < a; });
		return (int)values.size();
	}
};
}

static std::map<std::string, int> counts;

int main(int argc, char **)
{
	std::unique_ptr<deep::base> one(new deep::thing<int>()), two(new deep::thing<double>());

	for (int i = 0; i < argc; i++)
		counts[std::to_string(i)] += one->go(i) + two->go(i);
	printf("%zu\n", counts.size());
}
END
c++ -O2 -g "$work/program.cc" -o "$work/program" || exit 1

# nearly_all WHAT FILE LEAST: that many of 100 are the same, and there are some
nearly_all() {
	local status=0
	python3 tests/live/names.py "$TOOLS/names" "$1" "$2" >"$work/result" 2>&1 || status=1
	head -c 4000 "$work/result"
	awk -v least="$3" 'NR == 1 { good = $2 >= 500 && $1 >= $2 * least / 100 } END { exit !good }' "$work/result" &&
		return $status
}
check "symbols of a C++ program" nearly_all symbols "$work/program" 100
check "lines and inlined functions of a C++ program" nearly_all lines "$work/program" 99
check "symbols of dwell" nearly_all symbols "$DWELL" 100
check "lines and inlined functions of dwell" nearly_all lines "$DWELL" 99
objcopy --compress-debug-sections "$work/program" "$work/packed"
check "lines of packed DWARF" nearly_all lines "$work/packed" 99
libstdcxx=$(ldd "$work/program" | awk '/libstdc\+\+/ { print $3 }')
check "symbols of a stripped library" nearly_all symbols "$libstdcxx" 100

# DWARF whose names are in another file (.gnu_debugaltlink), which is a pipe that nobody writes to: whoever
# opens it waits for ever
cat >"$work/elsewhere.s" <<END
	.globl f
	.type f, @function
f:	ret
.Lend:	.size f, . - f
	.section .debug_abbrev, "", %progbits
	.uleb128 1, 0x11, 1, 0x11, 1, 0x12, 7, 0, 0 # a unit: low_pc, high_pc
	.uleb128 2, 0x2e, 0, 3, 0x1f21, 0x11, 1, 0x12, 7, 0, 0 # a function: its name in the other file
	.byte 0
	.section .debug_info, "", %progbits
	.long .Lunit_end - .Lunit
.Lunit:	.short 4
	.long 0
	.byte 8
	.uleb128 1
	.quad f, .Lend - f
	.uleb128 2
	.long 5
	.quad f, .Lend - f
	.byte 0
.Lunit_end:
	.section .gnu_debugaltlink, "", %progbits
	.asciz "$work/pipe"
	.ascii "0123456789abcdef0123"
END
mkfifo "$work/pipe"
opens_no_other_file() {
	cc -shared -nostdlib -o "$work/elsewhere.so" "$work/elsewhere.s" || return 1
	nm "$work/elsewhere.so" | awk '$3 == "f" { print $1 }' |
		timeout 10 "$TOOLS/names" --lines "$work/elsewhere.so" | grep -x '?? ??:0'
}
check "DWARF in a file that another names is not opened" opens_no_other_file
finish
