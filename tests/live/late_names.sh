#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Windows end in time while names are looked up in a program with a lot of DWARF: DWARF_MB of it (60; 1024 takes minutes
# to build). Its names follow.
# timing: the ends of windows are compared with the clock
. tests/lib.sh
need_root

mb=${DWARF_MB:-60}
work=$(mktemp -d)
busy=
trap '[ -z "$busy" ] || kill $busy; rm -rf "$work"' EXIT

# One unit has 1.5 MB of it; copies of that have other names.
python3 - >"$work/unit.c" <<'END'
print("struct s0 { int a; };")
for i in range(1, 3000):
    print(f"struct s{i} {{ struct s{i - 1} *p; int a{i}; long b{i}; double c{i}; }};")
    print(f"static __attribute__((noinline)) int f{i}(struct s{i} *x, int v) {{ int t{i} = v * {i}; long u{i} = t{i} ^ {i};"
          f" for (int k = 0; k < 40; k++) u{i} += k * t{i}; return (int)u{i} + (x != 0); }}")
print("int unit(int v) { int r = 0;")
for i in range(1, 3000):
    print(f"r += f{i}(0, v);")
print("return r; }")
END
build() {
	local units=$((mb * 2 / 3)) i
	gcc -g -O1 -c "$work/unit.c" -o "$work/unit.o" || return 1
	for i in $(seq $units); do
		objcopy --prefix-symbols="u${i}_" "$work/unit.o" "$work/u$i.o" || return 1
		echo "int u${i}_unit(int);" >&3
	done 3>"$work/main.c"
	{
		echo "int main(int argc, char **argv) { int r = 0; for (;;) {"
		for i in $(seq $units); do echo "r += u${i}_unit(argc + r);"; done
		echo "} return r; }"
	} >>"$work/main.c"
	gcc -O1 "$work/main.c" "$work"/u*[0-9].o -o "$work/large" || return 1
	rm "$work"/u*.o
}
dwarf_mb() { size -A "$work/large" | awk '/^\.debug/ { sum += $2 } END { printf "%d", sum / 1048576 }'; }

check "a program with $mb MB of DWARF" build
echo "# $(dwarf_mb) MB of DWARF"
"$work/large" &
busy=$!
timeout 120 "$DWELL" record --lines -F 499 --max-overhead 100% -a -d 6 -o "$work/a.dwell" 2>"$work/told"
check "it is recorded" test $? -eq 0
kill $busy
busy=

sql() { sqlite3 "$work/a.dwell" "$1"; }
late=$(sql "SELECT max(end_ns - begin_ns) / 1000000 - 1000 FROM windows")
check "no window is late by more than 100 ms ($late ms)" test "$late" -le 100
of_large="FROM frames JOIN modules ON modules.id = module WHERE path LIKE '%/large'"
named=$(sql "SELECT 100 * sum(name NOTNULL) / count(*) $of_large")
check "at least 99 % of its functions have their names ($named %)" test "${named:-0}" -ge 99
lines=$(sql "SELECT 100 * sum(line > 0) / count(*) $of_large")
missing=$(sql "SELECT CAST(total(line IS NULL AND name GLOB 'u[0-9]*') AS INTEGER) $of_large") # main() has no DWARF
refused=$(sql "SELECT CAST(total(count) AS INTEGER) FROM losses WHERE cause = 'lines_refused'")
# Of more, lines are looked up for 5 s of CPU time (docs/names.md)
[ "$mb" -gt 60 ] || check "at least 99 % have lines ($lines %)" test "${lines:-0}" -ge 99
check "those without a line ($missing) are counted as refused ($refused)" test "$refused" -ge "$missing"
check "no other is" test "$refused" -le "$(sql "SELECT total(line IS NULL) $of_large" | cut -d. -f1)"
check "none is missing without a word" test "$(sql "SELECT total(count) FROM losses WHERE cause = 'frames_unnamed'")" = 0.0
finish
