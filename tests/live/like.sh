#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Repeated runs: record --like makes the same measurement, and names a setting, a rate and a build that differ;
# --warmup discards the beginning; --config is read with the rights of whoever called sudo.
# timing: the length of a session, on a loaded host
. tests/lib.sh
need_root

work=$(mktemp -d)
chmod 755 "$work"
swappiness=$(cat /proc/sys/vm/swappiness)
busy=
end() {
	echo "$swappiness" >/proc/sys/vm/swappiness
	[ -z "$busy" ] || kill "$busy" 2>/dev/null
	rm -rf "$work"
}
trap end EXIT

# build NUMBER: $work/busy, a program that uses a CPU; another build for another number, and it runs
build() {
	[ -z "$busy" ] || { kill "$busy"; wait "$busy" 2>/dev/null; }
	printf 'volatile unsigned long n; int main(void) { for (;;) n += %d; }\n' "$1" >"$work/busy.c"
	${CC:-cc} -O1 -Wl,--build-id -o "$work/busy.new" "$work/busy.c" && mv "$work/busy.new" "$work/busy" || return 1
	"$work/busy" &
	busy=$!
}
record() { timeout 60 "$DWELL" record "$@" 2>"$work/err" || { cat "$work/err"; return 1; }; }
fact() { sqlite3 "$1" "SELECT value FROM meta WHERE key = '$2'"; }
differences() { sed -n 's/^dwell: differs: //p' "$work/err"; }

build 1
check "a first session" record --exe "$work/busy" -d 1.5 -F 49 --max-overhead 90% -s runq --label round=1 -o "$work/1.dwell"
like_first() {
	record --like "$work/1.dwell" --label "round=$1" -o "$work/$1.dwell" &&
		[ -n "$(fact "$work/1.dwell" run_id)" ] && [ "$(fact "$work/$1.dwell" run_id)" = "$(fact "$work/1.dwell" run_id)" ]
}
for round in 2 3; do
	check "--like gives session $round the same run id" like_first $round
	check "and nothing differs" eval 'grep -q "nothing differs" "$work/err" || { cat "$work/err"; false; }'
	check "what was compared has host settings, hooks and the build of the program" eval \
		'sed -n "s/.*: \([0-9]*\) facts, \([0-9]*\) host settings, \([0-9]*\) hooks and \([0-9]*\) builds compared/\1 \2 \3 \4/p" "$work/err" |
			awk "{ ok = \$1 > 10 && \$2 > 20 && \$3 > 10 && \$4 > 0 } END { exit !ok }"'
done
same_options() {
	local of="SELECT value FROM meta WHERE key GLOB 'option.*' ORDER BY value"
	diff <(sqlite3 "$work/1.dwell" "$of") <(sqlite3 "$work/3.dwell" "$of")
}
check "they have the same options" same_options
check "and the report shows the run id" eval '"$DWELL" report "$work/3.dwell" | grep -qF "run id $(fact "$work/1.dwell" run_id)"'

# Whether the hypervisor was busy is not dwell's business, and 75 samples are few.
judged() {
	"$DWELL" doctor --json "$work/3.dwell" >"$work/doctor.json"
	tests/schema.py docs/doctor-session.schema.json "$work/doctor.json" &&
		jq -e --arg id "$(fact "$work/1.dwell" run_id)" '.run_id == $id and ([.checks[] | select(.level == "bad" and
			.name != "stolen_time" and .name != "overhead")] == [])' "$work/doctor.json" || { cat "$work/doctor.json"; return 1; }
}
check "the doctor finds nothing bad in a real session" judged

build 2
echo $((swappiness == 7 ? 8 : 7)) >/proc/sys/vm/swappiness
check "after changes" record --like "$work/1.dwell" -F 99 -o "$work/4.dwell"
echo "$swappiness" >/proc/sys/vm/swappiness
named() {
	differences >"$work/differences"
	grep -qxF "sampling rate (Hz): 49 there, 99 here" "$work/differences" &&
		grep -qxF "vm.swappiness: $swappiness there, $((swappiness == 7 ? 8 : 7)) here" "$work/differences" &&
		grep -qE "^build of $work/busy: [0-9a-f]{12} there, [0-9a-f]{12} here$" "$work/differences" &&
		[ "$(wc -l <"$work/differences")" -eq 3 ] || { cat "$work/err"; return 1; }
}
check "the rate, the setting and the build are named, and nothing else" named
check "and the run id is another" [ "$(fact "$work/4.dwell" run_id)" != "$(fact "$work/1.dwell" run_id)" ]
kill "$busy"
busy=

# --- a command ---

check "a session of a command" record -F 0 -o "$work/c.dwell" -- sleep 0.1
check "--like wants its command" eval '! record --like "$work/c.dwell" -o "$work/d.dwell" >/dev/null && grep -qF "add -- sleep ARGS" "$work/err"'
check "and takes it" eval 'record --like "$work/c.dwell" -o "$work/d.dwell" -- sleep 0.1 && grep -qF "nothing differs" "$work/err"'

# --- warming up ---

warmed() {
	record -a --warmup 1 -d 1 -o "$work/w.dwell" || return 1
	"$DWELL" report --json --kernel "$work/w.dwell" >"$work/w.json"
	# The session is a second long, a quarter more on a loaded host, not two; and its threads' parts sum to it.
	jq -e '.meta.warmup_ns == "1000000000" and .quality.closure_error_ns == 0 and
		.slice.begin_ns == 0 and .slice.end_ns >= 1e9 and .slice.end_ns < 1.25e9' "$work/w.json"
}
check "--warmup discards a second, and records one" warmed
check "the report says so" eval '"$DWELL" report "$work/w.dwell" | head -n 3 | tr -d "\n" | grep -qF "after 1.000 s of warm-up"'
ended_early() {
	! timeout 60 "$DWELL" record --warmup 30 -o "$work/e.dwell" -- sh -c 'exit 3' 2>"$work/err"
	grep -qF "nothing was recorded" "$work/err" && [ ! -e "$work/e.dwell" ] && [ ! -e "$work/e.dwell-wal" ]
}
check "what ends within it records nothing, and leaves no file" ended_early
warmed_rotation() {
	record -a --warmup 1 --rotate 1s -d 2 -o "$work/r.dwell" &&
		[ "$(fact "$work/r.0001.dwell" file_number)" = 1 ] && [ "$(fact "$work/r.0002.dwell" file_number)" = 2 ] &&
		[ "$(fact "$work/r.0001.dwell" started_ns)" = "$(fact "$work/r.0002.dwell" recording_started_ns)" ] &&
		[ ! -e "$work/r.0003.dwell" ]
}
check "--rotate begins after it" warmed_rotation

# --- a file ---

printf 'duration: 300ms\ncomm: busy\noutput: %s/y.dwell\n' "$work" >"$work/run.yaml"
check "--config is a command line" record --config "$work/run.yaml"
check "and the session has its options" eval '[ "$(fact "$work/y.dwell" filter)" = "comm busy" ]'
chmod 600 "$work/run.yaml"
as_nobody() {
	! SUDO_UID=65534 SUDO_GID=65534 timeout 60 "$DWELL" record --config "$work/run.yaml" 2>"$work/err" &&
		grep -qF "run.yaml: Permission denied" "$work/err"
}
check "it is read with the rights of whoever called sudo" as_nobody
finish
