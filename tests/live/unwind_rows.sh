#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One library with more rows than the unwind table holds, beside small programs: all stacks stay complete. A
# table that is too small is reported, with the option that raises it.
# timing: stacks are incomplete until tables are loaded; a CPU that is taken away then makes them more
. tests/lib.sh
need_root

work=$(mktemp -d)
file=$work/a.dwell
pids=()
end() {
	[ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null
	rm -rf "$work"
}
trap end EXIT

PYTHON='def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
while True:
    fib(15); sorted(str(i) for i in range(2000))'
PERL='sub fib { my $n = shift; $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
while (1) { fib(12); my %h; $h{$_} = 1 for 1 .. 1000; join ",", sort keys %h }'

# --- a library of 192,000 functions of 12 rows each ---

cat >"$work/tiny.S" <<'END'
	.text
	.rept 12000
	.balign 64
	.cfi_startproc
	.irp r, rbx, rbp, r12, r13, r14, r15
	push %\r
	.cfi_adjust_cfa_offset 8
	.endr
	.irp r, r15, r14, r13, r12, rbp, rbx
	pop %\r
	.cfi_adjust_cfa_offset -8
	.endr
	ret
	.cfi_endproc
	.endr
	.section .note.GNU-stack, "", @progbits
END
cat >"$work/hot.c" <<'END'
long NEXT(long depth);
long SELF(long depth);
__attribute__((noinline)) long SELF(long depth)
{
	volatile long sum = 0;

	for (long i = 0; i < 20000; i++)
		sum += i;
	if (depth)
		sum += NEXT(depth - 1);
	for (long i = 0; i < 20000; i++)
		sum += i;
	return sum;
}
END
echo 'long hot_0(long); int main(void) { for (;;) hot_0(15); }' >"$work/main.c"

# Between every 12,000 of them is one that is hot, each in a page of its own; they call each other.
build() {
	local objects=() i
	gcc -c "$work/tiny.S" -o "$work/tiny.o" || return 1
	for ((i = 0; i < 16; i++)); do
		gcc -O2 -fPIC -fomit-frame-pointer -DSELF="hot_$i" -DNEXT="hot_$(((i + 1) % 16))" \
			-c "$work/hot.c" -o "$work/hot_$i.o" || return 1
		objects+=("$work/tiny.o" "$work/hot_$i.o")
	done
	gcc -shared -o "$work/libhuge.so" "${objects[@]}" &&
		gcc -O2 -o "$work/huge" "$work/main.c" "$work/libhuge.so" -Wl,-rpath,"$work"
}
check "a library of 2.3 million rows is built" build

# --- it runs beside others ---

"$work/huge" &
pids+=($!)
/usr/bin/python3.11 -c "$PYTHON" &
pids+=($!)
perl -e "$PERL" &
pids+=($!)
"$TOOLS/workloads/recursion" 1000000 >/dev/null &
pids+=($!)
disown -a
sleep 0.2

sql() { sqlite3 -readonly "$file" "$1"; }
meta() { sql "SELECT value FROM meta WHERE key = '$1'"; }

# record [OPTION...]
seconds=6
record() {
	local list
	list=$(IFS=,; echo "${pids[*]}")
	timeout 60 "$DWELL" record -F 997 --tier A -p "$list" -d "$seconds" -o "$file" "$@" 2>"$work/err"
}

# complete PID NAME LEAST [WINDOW]: so many per cent of at least 400 of its samples, from that window on
complete() {
	local all share these="pid = $1 AND window >= ${4:-0}"
	all=$(sql "SELECT coalesce(sum(count), 0) FROM samples WHERE $these")
	share=$(sql "SELECT round(100.0 * sum(CASE WHEN stop IN (SELECT id FROM stops WHERE name IN
		('none', 'end', 'zero')) THEN count ELSE 0 END) / sum(count), 2) FROM samples WHERE $these")
	check "$2: $share % of $all stacks are complete, at least $3" awk -v a="$all" -v s="$share" -v l="$3" \
		'BEGIN { exit !(a >= 400 && s >= l) }'
}

# warns: does the report's first screen say that the table was full?
warns() { "$DWELL" report "$file" 2>/dev/null | head -24 | tr '\n' ' ' | tr -s ' ' | grep -q '! unwind table full: '; }
raises() { "$DWELL" report "$file" 2>/dev/null | tr '\n' ' ' | tr -s ' ' | grep -q -- "raise it with --unwind-rows $1"; }

# In 2 M rows there is no room for the library; nor in 512 K, but for its hot pages, 13 K rows each.
for rows in 2M 512K; do
	check "$rows rows: it is recorded" record --unwind-rows "$rows"
	complete "${pids[0]}" "$rows rows: the huge library, from its second second on" 99.5 1
	starting=$(sql "SELECT coalesce(sum(count), 0) FROM samples WHERE pid = ${pids[0]} AND
		stop = (SELECT id FROM stops WHERE name = 'no page')")
	check "$rows rows: its pages took $starting samples to load, at most 30" test "$starting" -le 30
	complete "${pids[1]}" "$rows rows: python3.11" 99.5
	complete "${pids[2]}" "$rows rows: perl" 99.5
	complete "${pids[3]}" "$rows rows: C++" 99.5
	check "$rows rows: no page was refused" test "$(meta unwind_pages_refused)" -eq 0
	check "$rows rows: pages were loaded for stacks ($(meta unwind_pages_asked))" \
		test "$(meta unwind_pages_asked)" -ge 16
	hot=$(sql "WITH RECURSIVE up(id) AS (SELECT DISTINCT stack FROM samples WHERE pid = ${pids[0]} UNION SELECT t.parent
		FROM up JOIN stacks t ON t.id = up.id WHERE t.parent != 0) SELECT count(DISTINCT f.name) FROM up
		JOIN stacks t ON t.id = up.id JOIN frames f ON f.id = t.frame WHERE f.name GLOB 'hot_*' AND f.name NOT LIKE '%@plt'")
	check "$rows rows: all 16 hot functions are in its stacks ($hot)" test "$hot" -eq 16
	check "$rows rows: nothing to warn of" sh -c "'$DWELL' report '$file' >'$work/text' && ! grep 'table full' '$work/text'"
done

# Half of the hot pages fit. Who has most gives: the small programs do not pay for the huge one.
seconds=5
check "160K rows: it is recorded" record --unwind-rows 160K
complete "${pids[2]}" "160K rows: perl" 98
complete "${pids[3]}" "160K rows: C++" 98
check "160K rows: pages were refused ($(meta unwind_pages_refused))" test "$(meta unwind_pages_refused)" -gt 0
check "160K rows: the table stays within its capacity" test "$(meta unwind_rows_most)" -le 163840
check "160K rows: the report says that the table was full" warns
check "160K rows: and which option raises it" raises 640K
check "160K rows: JSON has the same, and follows its schema" sh -c "'$DWELL' report --json '$file' >'$work/json' &&
	tests/schema.py docs/report.schema.json '$work/json' &&
	jq -e '.quality.unwind | .rows_capacity == 163840 and .pages_refused > 0 and .incomplete > 0' '$work/json'"
finish
