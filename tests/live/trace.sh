#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dwell trace against programs that know how often their functions are called, how long that takes, and
# which calls never return; what is dangerous is refused, what is not found says why.
# timing: times of calls are compared with the program's own clock
. tests/lib.sh
need_root
mount_tracefs

work=$(mktemp -d)
chmod 755 "$work"
end() {
	[ -z "${storm:-}" ] || kill "$storm" 2>/dev/null
	[ -z "${pg_bin:-}" ] || as_postgres "$pg_bin/pg_ctl" -D "$work/pg" -m immediate stop >/dev/null 2>&1
	rm -rf "$work"
}
trap end EXIT

ORACLE=$(realpath "$TOOLS/workloads/oracle")
file=$work/a.dwell

# trace OPTIONS... -- COMMAND: its truth is in $work/truth, the report in $work/json
trace() {
	timeout 60 "$DWELL" trace -q -o "$file" "$@" >"$work/truth" 2>"$work/err"
	"$DWELL" report --json "$file" >"$work/json" 2>>"$work/err"
}

# told KIND PROBE FIELD: the sum of a field over all series of a kind whose probe ends so
told() {
	jq --arg kind "$1" --arg probe "$2" "[.signals.func[]? | select(.kind == \$kind and (.probe | endswith(\$probe))) |
		.$3] | add // 0" "$work/json"
}

truth() { awk -v key="$1" '$1 == key { sum += $2 } END { printf "%.0f", sum }' "$work/truth"; }

equal() { [ "$1" = "$2" ] || { echo "$1, and not $2"; cat "$work/err"; return 1; }; }

# near NS TRUTH COUNT: within 2 %, or 100 us for each
near() {
	awk -v a="$1" -v b="$2" -v n="$3" 'BEGIN {
		by = a > b ? a - b : b - a
		printf "%.0f, truth %.0f: %.2f %%, %.1f us each\n", a, b, 100 * by / (b + 1), by / n / 1000
		exit !(n > 0 && (by <= 0.02 * b || by <= 100000 * n)) }'
}

# A process that ends while dwell starts, made to last: dead, and not yet waited for.
tells_of_the_dead() {
	local parent status=0
	sh -c 'sleep 0.2 & echo $! >"$0"; exec sleep 30' "$work/dead" &
	parent=$!
	until [ -s "$work/dead" ] && grep -q '^State:.*Z' "/proc/$(cat "$work/dead")/status"; do sleep 0.05; done
	refuses "process $(cat "$work/dead") has ended before" -p "$(cat "$work/dead")" -d 1 -u "$ORACLE:main" &&
		! grep -q "this kernel\|No such process" "$work/err" || status=1
	kill "$parent"
	wait "$parent" 2>/dev/null
	return $status
}

refuses() {
	local reason=$1
	shift
	! timeout 60 "$DWELL" trace "$@" >"$work/out" 2>"$work/err" && grep -q -- "$reason" "$work/err" ||
		{ cat "$work/err"; return 1; }
}

tells_escaped() {
	timeout 60 "$DWELL" trace -n -u "$work/hostile:traced_*sleep" 2>&1 | grep -qF 'traced_\x1b[31msleep:'
}

# --- calls

trace -u "$ORACLE:traced_sleep" -u "$ORACLE:traced_deep" -- "$ORACLE" traced-calls
for name in sleep deep; do
	calls=$(truth "${name}_calls")
	check "$name: each of $calls calls is counted" equal "$(told call "traced_$name" count)" "$calls"
	check "$name: their time" near "$(told call "traced_$name" sum_ns)" "$(truth "${name}_ns")" "$calls"
	check "$name: none is unmatched" equal \
		"$(told call "traced_$name" unmatched.orphan_start)$(told call "traced_$name" unmatched.orphan_end)" 00
done

trace -u "$ORACLE:traced_*" -- "$ORACLE" traced-jumps
check "longjmp: who catches it returns" equal "$(told call traced_catch count)" "$(truth catch_calls)"
check "longjmp: who is passed by does not" equal "$(told call traced_jump unmatched.orphan_start)" "$(truth jump_calls)"
check "longjmp: over and over, from the same place" equal "$(told call traced_leap unmatched.orphan_start)" "$(truth leap_calls)"
check "longjmp: nor is it counted as a call" equal "$(told call traced_jump count)" 0
check "a thread's end: its open calls are counted" equal \
	"$(told call traced_exit unmatched.orphan_start)" "$(truth exit_calls)"

trace -u "$ORACLE:traced_returns" -- "$ORACLE" traced-returns
for class in zero positive -1 -errno negative pointer; do
	check "returned $class" equal "$(jq --arg class "$class" '[.signals.func[] | select(.returned == $class) | .count] |
		add // 0' "$work/json")" "$(truth returns_each)"
done

# --- by what calls are told apart

trace -u "$ORACLE:traced_sleep" -u "$ORACLE:traced_deep" --no-classes --by arg1 -- "$ORACLE" traced-calls
check "--by arg1: each depth has its calls" equal "$(jq '[.signals.func[] | select(.probe | endswith("traced_deep")) |
	"\(.by):\(.count)"] | sort | join(" ")' "$work/json")" \
	"\"$(for i in $(seq 20); do echo "$i:50"; done | LC_ALL=C sort | tr '\n' ' ' | sed 's/ $//')\""
trace -u "$ORACLE:traced_sleep" --no-classes --by ret -- "$ORACLE" traced-calls
check "--by ret" equal "$(jq -c '[.signals.func[] | [.by, .count]]' "$work/json")" '[[1,200]]'
trace -u "$ORACLE:traced_sleep" --by comm -- "$ORACLE" traced-calls
check "--by comm" equal "$(told call "traced_sleep [oracle]" count)" 200
trace -u "$ORACLE:traced_sleep" --by stack -- "$ORACLE" traced-calls
check "--by stack names the caller" equal "$(jq '[.signals.funcstack[] | select(.stack | contains("< do_traced_calls <")) |
	.count] | add >= 140' "$work/json")" true
check "--by stack counts each call" equal "$(jq '[.signals.funcstack[].count] | add' "$work/json")" 200

# --- slow calls, as they happen

timeout 60 "$DWELL" trace -q --slow 1ms -u "$ORACLE:traced_sleep" -- "$ORACLE" traced-calls >/dev/null 2>"$work/out"
check "--slow tells each slow call" equal "$(grep -c '^[0-9:.]* .* ms  oracle:traced_sleep  oracle (' "$work/out")" 200
# The first calls of a new process come before its files are known; more of them where others work, too.
check "--slow shows who called" [ "$(grep -c "^	do_traced_calls" "$work/out")" -ge 140 ]

# What is not CPU time in the ledger is none in a slow call.
trace --slow 1ms -u "$ORACLE:traced_wait" -- "$ORACLE" traced-waits
check "--slow: a wait for another thread is no CPU time" equal "$(jq '[.slow[] | select(.parts) | .parts] |
	length >= 18 and ([.[].other_ns] | add) > 9 * ([.[].cpu_ns] | add)' "$work/json")" true

# Other clients of SQLite are refused until the writer ends: one that gets in could checkpoint the -wal.
# 200 calls a second and CPU are told: so each 200 have a second of their own.
locked_until_the_end() {
	local dwell refused=0 others=0 told said
	rm -f "$file" "$work/done"
	timeout 60 "$DWELL" trace -q --slow 1ms -o "$file" -u "$ORACLE:traced_sleep" -- \
		sh -c 'for i in 1 2 3 4; do "$0" traced-calls; sleep 1; done; touch "$1"' "$ORACLE" "$work/done" >"$work/truth" 2>"$work/out" &
	dwell=$!
	until [ -s "$file" ]; do sleep 0.05; done
	while [ ! -e "$work/done" ] && kill -0 "$dwell" 2>/dev/null; do
		said=$(sqlite3 -cmd '.timeout 0' "$file" 'PRAGMA wal_checkpoint(TRUNCATE)' 'BEGIN IMMEDIATE' 2>&1)
		case $said in
		*locked*) refused=$((refused + 1)) ;;
		*) [ -e "$work/done" ] || { others=$((others + 1)); echo "it got in: $said"; } ;;
		esac
		sleep 0.01
	done
	wait "$dwell"
	told=$(grep -c 'ms  oracle:traced_sleep' "$work/out")
	echo "refused $refused times, got in $others times; $told of 800 calls are told"
	[ "$others" -eq 0 ] && [ "$refused" -gt 100 ] && [ "$told" -eq 800 ] &&
		[ "$(sqlite3 "$file" 'PRAGMA integrity_check')" = ok ]
}
check "--slow: the session is locked until it is complete" locked_until_the_end

# Who reads the calls may pause, as a pager does: windows end on time, and the calls are printed later. Meanwhile the
# process that prints is there to be looked at.
late_reader() {
	local dwell printer late_ms told
	rm -f "$file"
	"$DWELL" trace -q --slow 1ms -o "$file" -u "$ORACLE:traced_sleep" -- \
		sh -c 'for i in 1 2 3 4 5; do "$0" traced-calls; sleep 1; done' "$ORACLE" >/dev/null 2> >(
		sleep 8
		cat >"$work/out"
		touch "$work/read"
	) &
	dwell=$!
	sleep 4
	printer=$(pgrep -P "$dwell" -x dwell)
	grep ' [r-][w-][x-]s ' "/proc/$printer/maps" >"$work/shared"
	wait "$dwell"
	until [ -e "$work/read" ]; do sleep 0.1; done
	told=$(grep -c 'ms  oracle:traced_sleep' "$work/out")
	late_ms=$(sqlite3 "$file" 'SELECT max(end_ns - begin_ns) / 1000000 - 1000 FROM windows')
	echo "$told of 1000 calls in $(stat -c %s "$work/out") bytes; the longest window is $late_ms ms late"
	[ "$told" -eq 1000 ] && [ "$(stat -c %s "$work/out")" -gt 131072 ] && [ "$late_ms" -le 100 ]
}
check "--slow: no window is late by more than 100 ms while nobody reads the calls" late_reader
no_kernel_memory() {
	cat "$work/shared"
	[ -s "$work/shared" ] && ! grep anon_inode: "$work/shared"
}
check "--slow: who prints the calls has no map of the kernel's in its memory" no_kernel_memory

# --- between probes

trace --from "u:$ORACLE:traced_read" --to "u:$ORACLE:traced_write" --key arg1 -- "$ORACLE" traced-span
check "--from, --to: across threads" equal "$(told span traced_write count)" "$(truth span_count)"
check "--from, --to: the time" near "$(told span traced_write sum_ns)" "$(truth span_ns)" "$(truth span_count)"
check "--from, --to: no end without a start" equal "$(told span traced_write unmatched.orphan_end)" 0
trace --from "u:$ORACLE:traced_sleep" --to "ur:$ORACLE:traced_sleep" --key tid -- "$ORACLE" traced-calls
check "--key tid, and a return" equal "$(told span traced_sleep count)" 200
check "--key tid: the time" near "$(told span traced_sleep sum_ns)" "$(truth sleep_ns)" 200

for pool in pool:blocking pool-busy:starvation; do
	trace --pool "enqueue=u:$ORACLE:traced_enqueue,start=u:$ORACLE:traced_begin,end=u:$ORACLE:traced_end" --key arg1 \
		-- "$ORACLE" "traced-${pool%:*}"
	for kind in queueing execution sojourn; do
		check "${pool%:*}: each task's $kind" equal "$(told $kind pool count)" "$(truth tasks)"
		check "${pool%:*}: $kind takes as long" near "$(told $kind pool sum_ns)" "$(truth ${kind}_ns)" "$(truth tasks)"
	done
	check "${pool%:*}: the queue was as deep as it can be" equal "$(jq '[.signals.func[] | select(.kind == "depth") |
		.max // .max_ns] | max > 30' "$work/json")" true
	check "${pool%:*}: the verdict is ${pool#*:}" equal "$(jq -r '.remarks.func[]?' "$work/json" |
		sed -n 's/^\(pool: [a-z]*\).*/\1/p')" "pool: ${pool#*:}"
done

trace --pool "enqueue=u:$ORACLE:traced_enqueue,start=u:$ORACLE:traced_begin,end=u:$ORACLE:traced_end" --key arg1 \
	--pair-limit 500ms -- "$ORACLE" traced-pool-lost
check "pool: tasks that nobody takes expire" equal "$(told queueing pool unmatched.expired)" "$(truth lost)"
check "pool: and are in the queue no more" equal "$(told depth pool count) $(told depth pool sum)" \
	"$(truth tasks) $(truth depths)"

# --- USDT and tracepoints

trace -U "$ORACLE:dwell_oracle:*" --by arg2 -- "$ORACLE" traced-span
check "USDT: hits are counted" equal "$(told hit dwell_oracle:write count)" "$(truth span_count)"
check "USDT: arguments, also negative ones" equal "$(jq -c '[.signals.func[] | .by] | sort' "$work/json")" '[-7,7]'
trace --from "U:$ORACLE:dwell_oracle:read" --to "U:$ORACLE:dwell_oracle:write" --key arg1 -- "$ORACLE" traced-span
check "USDT: between two" equal "$(told span write count)" "$(truth span_count)"
trace -t syscalls:sys_enter_clock_nanosleep -- "$ORACLE" traced-calls
check "a tracepoint is counted" equal "$(told hit sys_enter_clock_nanosleep count)" \
	$(($(truth sleep_calls) + $(truth deep_calls) / 20))
if [ -e /sys/bus/event_source/devices/kprobe/type ]; then
	trace -k __x64_sys_clock_nanosleep -- "$ORACLE" traced-calls
	check "-k: a function of the kernel" equal "$(told call clock_nanosleep count)" \
		$(($(truth sleep_calls) + $(truth deep_calls) / 20))
else
	check "-k without kprobes says so" refuses "CONFIG_KPROBES" -k do_nanosleep -d 1s
fi

# --- what is refused, and what is not there

check "a process that has ended meanwhile is no fault of the kernel" tells_of_the_dead
check "a key must be known at both ends" refuses 'is not known at' -n --key arg1 \
	--from "u:$ORACLE:traced_read" --to "ur:$ORACLE:traced_write"
check "so must what is returned" refuses 'is not known at' -n --key ret --from "ur:$ORACLE:traced_read" \
	--to "u:$ORACLE:traced_write"
check "a key without ends has no use" refuses 'there are none' -n --key arg1 -u "$ORACLE:traced_read"
check "what is between probes is told apart by nothing" refuses 'between two probes' -n --by arg1 \
	--from "u:$ORACLE:traced_read" --to "u:$ORACLE:traced_write"
check "what is only counted returns nothing" refuses 'known to return' -n --count --by ret -u "$ORACLE:traced_read"
check "and is not slow" refuses 'takes time' -n --slow 1ms -t sched:sched_switch
check "malloc is refused" refuses 'called very often' -n -u libc.so.6:malloc
check "so is the kernel's scheduler" refuses 'called very often' -n -k __schedule
check "so are the kernel's locks" refuses 'hang the host' -n -t lock:contention_begin
check "so is what happens in NMI" refuses 'hang the host' -n -t nmi:nmi_handler
check "setjmp's return would crash" refuses 'does not return as other' -n -u libc.so.6:_setjmp
check "an IFUNC is not the function" refuses 'chosen at run time' -n -u libc.so.6:memcpy
check "--limit holds" refuses 'more than --limit 64' -n -u 'libc.so.6:*'
strip -o "$work/stripped" "$ORACLE"
check "a stripped file is said to be" refuses 'stripped' -n -u "$work/stripped:traced_sleep"
check "so is an unknown name" refuses 'has no function' -n -u "$ORACLE:traced_nowhere"
check "an offset must be code" refuses 'not in the code' -n -u "$ORACLE:0x10"
middle=$(printf '0x%x' $((16#$(nm "$ORACLE" | sed -n 's/ [Tt] traced_sleep$//p') + 1)))
check "an instruction must begin there" refuses 'that an instruction begins' -n -u "$ORACLE:$middle"
objcopy --redefine-sym "traced_sleep=$(printf 'traced_\033[31msleep')" "$ORACLE" "$work/hostile"
check "a name cannot command the terminal" tells_escaped
check "a script is no program" refuses 'interpreter' -n -u "tests/lib.sh:main"
cat >"$work/inlined.c" <<-'END'
	#include <stdio.h>
	static inline __attribute__((always_inline)) int folded(int n) { return n * 3; }
	int main(int argc, char **argv) { (void)argv; return printf("%d\n", folded(argc)) < 0; }
END
gcc -g -O2 "$work/inlined.c" -o "$work/inlined"
check "an inlined function is said to be" refuses 'inlined' -n -u "$work/inlined:folded"
# An exception finds its way by the return addresses on the stack: a return probe's would end the process.
cat >"$work/throws.cc" <<-'END'
	#include <cstdio>
	#include <cstdlib>
	#include <stdexcept>
	#include <time.h>
	static void pause_ms(long ms) { timespec t = {0, ms * 1000000}; nanosleep(&t, nullptr); }
	extern "C" __attribute__((noinline)) int c_thrower(int n) { if (n % 2) throw std::runtime_error("x"); pause_ms(2); return n; }
	__attribute__((noinline)) int thrower(int n) { return c_thrower(n) * 2; }
	__attribute__((noinline)) int handing_on(int n) { pause_ms(1); return thrower(n); }
	__attribute__((noinline)) int parted(int n) { if (n % 2) throw std::runtime_error("x"); return n; }
	static int compare(const void *a, const void *b) { throw *(const int *)a > *(const int *)b; }
	int main()
	{
		int sum = 0, caught = 0, numbers[] = {3, 1, 2};
		for (int i = 0; i < 20; i++) try { sum += thrower(i); } catch (std::exception &) { caught++; }
		for (int i = 0; i < 2; i++) try { sum += handing_on(i); } catch (std::exception &) { caught++; }
		for (int i = 0; i < 10; i++) try { sum += parted(i); } catch (std::exception &) { caught++; }
		for (int i = 0; i < 5; i++) try { qsort(numbers, 3, sizeof(int), compare); } catch (bool) { caught++; }
		printf("caught %d\n", caught);
		return sum == 0;
	}
END
if g++ -O2 "$work/throws.cc" -o "$work/throws" 2>/dev/null; then
	for function in c_thrower thrower; do
		named=$function
		[ $function = c_thrower ] || named="$function(int)"
		trace -u "$work/throws:$function" -- "$work/throws"
		check "$function: exceptions pass" equal "$(truth caught)" 21
		check "$function: calls that return are measured" equal "$(told call "$named" count)" 11
		check "$function: those that exceptions end are counted" equal \
			"$(told call "$named" unmatched.orphan_start)" 11
		check "$function: no end is without its start" equal "$(told call "$named" unmatched.orphan_end)" 0
	done
	check "$function: none is shorter than it sleeps" [ "$(told call "$named" sum_ns)" -ge 22000000 ]
	trace -u "$work/throws:parted" -- "$work/throws"
	check "one of whose parts stands elsewhere is one, too" equal \
		"$(told call 'parted(int)' count) $(told call 'parted(int)' unmatched.orphan_start)" "5 5"
	trace -u libc.so.6:qsort_r -- "$work/throws"
	check "nor do they end at a function of C that calls back" equal "$(truth caught)" 21
	check "what goes on in another function by a jump has no such end" refuses 'jump into another' \
		-u "$work/throws:handing_on" -- "$work/throws"
	trace -u "$work/throws:thrower" --count -- "$work/throws"
	check "but calls of a C++ function are counted, by the name that people know" equal \
		"$(told hit 'thrower(int)' count)" 22
fi
cp "$ORACLE" "$work/updated"
"$work/updated" traced-storm >/dev/null &
storm=$!
sleep 0.2
rm "$work/updated"
cp "$work/stripped" "$work/updated"
check "a process has its own file, which is another by now" sh -c \
	"'$DWELL' trace -n -p $storm -u '$work/updated:traced_tick' 2>&1 | grep -q 'maps another file'"
check "what is called all the time is refused" refuses 'not traced: the traps' -p "$storm" -d 1 \
	-u "$work/updated:traced_tick"
kill "$storm" 2>/dev/null
wait "$storm" 2>/dev/null
storm=

# 30,000 calls a second: with a stack each that is above 5 % of a core, the traps alone are below.
"$ORACLE" traced-steady >"$work/truth" &
storm=$!
sleep 0.2
timeout 60 "$DWELL" trace -o "$file" -p "$storm" -d 1 --by stack -u "$ORACLE:traced_tock" >"$work/out" 2>"$work/err"
"$DWELL" report --json "$file" >"$work/json"
kill "$storm" 2>/dev/null
wait "$storm" 2>/dev/null
storm=
check "the session has a run id" equal "$(sqlite3 "$file" "SELECT value GLOB '[0-9a-f]*' AND length(value) = 16 FROM meta WHERE key = 'run_id'")" 1
check "what is too dear is sampled, and that is said" grep -q 'sampled, one in 16' "$work/err"
sampled=$(jq '[.signals.funcstack[]?.count] | add // 0' "$work/json")
each_second=$(($(truth ticks) * 1000000000 / $(truth steady_ns)))
check "what is sampled stands for all: $sampled calls in a second, of $each_second" awk -v n="$sampled" -v all="$each_second" \
	'BEGIN { exit !(n % 16 == 0 && n > 0.7 * all && n < 1.4 * all) }'
check "what is left out is not unmatched" equal \
	"$(jq '[.signals.funcstack[]?.unmatched | .orphan_start + .orphan_end] | add // 0' "$work/json")" 0

if command -v go >/dev/null; then
	cat >"$work/main.go" <<-'END'
		package main
		import "time"
		//go:noinline
		func work(n int) int { time.Sleep(time.Millisecond); return n * 2 }
		func main() { s := 0; for i := 0; i < 50; i++ { s += work(i) }; println(s) }
	END
	(cd "$work" && HOME=$work GOFLAGS=-mod=mod GO111MODULE=off timeout 200 go build -o gone main.go) >/dev/null 2>&1
	check "no return probe on Go" refuses 'Go program' -u "$work/gone:main.work" -- "$work/gone"
	trace -u "$work/gone:main.work" --count -- "$work/gone"
	# One that has to grow its stack begins anew.
	check "but its calls are counted ($(told hit main.work count))" awk -v n="$(told hit main.work count)" \
		'BEGIN { exit !(n >= 50 && n < 60) }'
else
	skip "a Go program" "go is not installed"
fi

# From 6.18 on the kernel makes a call of such a nop: fine where a function begins, not in its midst.
cat >"$work/nop5.s" <<-'END'
	.globl main, begins, in_midst
	.type main, @function
	.type begins, @function
	main: mov $100, %ebx
	1: call begins
	dec %ebx
	jnz 1b
	xor %eax, %eax
	ret
	begins: .byte 0x0f, 0x1f, 0x44, 0, 0
	movl $1, -8(%rsp)
	in_midst: .byte 0x0f, 0x1f, 0x44, 0, 0
	ret
	.size begins, . - begins
	.section .note.GNU-stack, "", @progbits
END
if [ "$(uname -m)" = x86_64 ] && gcc -o "$work/nop5" "$work/nop5.s" 2>/dev/null &&
	[ "$(printf '6.18\n%s\n' "$(uname -r)" | sort -V | head -n 1)" = 6.18 ]; then
	check "a 5-byte nop in a function's midst is refused" refuses 'red zone' -n -u "$work/nop5:in_midst"
	trace -u "$work/nop5:begins" --count -- "$work/nop5"
	check "one that begins a function is not" equal "$(told hit begins count)" 100
else
	skip "a 5-byte nop" "only x86-64 kernels from 6.18 on make a call of it"
fi

# --- a real client of a real PostgreSQL

# Some machines let nobody but root read who their users are, and initdb wants to know.
install -m 644 /etc/passwd "$work/passwd"
as_postgres() {
	# shellcheck disable=SC2016 # for the shell inside
	unshare --mount sh -c 'mount --bind "$0" /etc/passwd &&
		exec setpriv --reuid=postgres --regid=postgres --clear-groups "$@"' "$work/passwd" "$@"
}
pg_bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
if [ -n "$pg_bin" ] && id postgres >/dev/null 2>&1; then
	mkdir "$work/pg"
	chown postgres "$work/pg"
	as_postgres "$pg_bin/initdb" -D "$work/pg" -A trust >/dev/null 2>&1
	as_postgres "$pg_bin/pg_ctl" -D "$work/pg" -w -o "-c listen_addresses= -k $work/pg" start >/dev/null 2>&1
	for i in $(seq 30); do echo 'SELECT pg_sleep(0.02);'; done >"$work/queries.sql"
	trace -u libpq.so.5:PQexec -u libpq.so.5:PQsendQuery -- \
		psql -q -h "$work/pg" -U postgres -f "$work/queries.sql" postgres
	queries=$(($(told call PQsendQuery count) + $(told call PQexec count)))
	check "PQexec or PQsendQuery of psql: each of 30 queries ($queries)" [ "$queries" -ge 30 ]
	trace -u libpq.so.5:PQexec -- "$pg_bin/pgbench" -h "$work/pg" -U postgres -i postgres
	check "PQexec of pgbench -i is measured ($(told call PQexec count) calls)" [ "$(told call PQexec count)" -ge 5 ]
	cat >"$work/client.c" <<-'END'
		#include <postgresql/libpq-fe.h>
		#include <stdio.h>
		#include <time.h>
		static long long now(void)
		{
			struct timespec t;
			clock_gettime(CLOCK_MONOTONIC, &t);
			return t.tv_sec * 1000000000LL + t.tv_nsec;
		}
		int main(int argc, char **argv)
		{
			PGconn *db = PQconnectdb(argv[argc - 1]);
			long long sum = 0;
			for (int i = 0; i < 50; i++) {
				long long begin = now();
				PQclear(PQexec(db, "SELECT pg_sleep(0.01)"));
				sum += now() - begin;
			}
			printf("queries 50\nqueries_ns %lld\n", sum);
			return PQstatus(db) != CONNECTION_OK;
		}
	END
	if gcc "$work/client.c" -o "$work/client" -lpq 2>/dev/null; then
		trace -u libpq.so.5:PQexec -- "$work/client" "host=$work/pg user=postgres dbname=postgres"
		check "PQexec: each query of a client" equal "$(told call PQexec count)" "$(truth queries)"
		check "PQexec: its time" near "$(told call PQexec sum_ns)" "$(truth queries_ns)" "$(truth queries)"
	else
		skip "PQexec of a client" "libpq-dev is not installed"
	fi
else
	echo "ok - PQexec # SKIP there is no PostgreSQL"
fi
finish
