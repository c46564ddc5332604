#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `dwell report` as it is typed: files, parts, options, exit statuses; JSON against its schema.
. tests/lib.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

says() { exits "$1" "${@:3}" && grep -qF -- "$2" "$dir/out" "$dir/err"; }
follows_schema() { exits 0 "$DWELL" report --json "$@" && tests/schema.py docs/report.schema.json "$dir/out"; }
has_color() { grep -q $'\033' "$dir/out"; }

make_session run "$dir"
make_session server "$dir"
make_session stacks "$dir"
make_session signals "$dir"
make_session causes "$dir"
make_session requests "$dir"
run=$dir/run.dwell server=$dir/server.dwell stacks=$dir/stacks.dwell signals=$dir/signals.dwell requests=$dir/requests.dwell

check "a session is reported" says 0 "sh (pid 700) took 350.0 ms" "$DWELL" report "$run"
for options in "" --execs --kernel "--pid 4700,12" "--threads --cpus"; do
	# shellcheck disable=SC2086 # they are several
	check "JSON follows its schema: run.dwell $options" follows_schema "$run" $options
	# shellcheck disable=SC2086
	check "JSON follows its schema: server.dwell $options" follows_schema "$server" $options
done
check "JSON follows its schema: causes.dwell" follows_schema "$dir/causes.dwell"
# Whoever may not use the kernel's clock on programs does not know what they cost, nor whether they fired.
cp "$server" "$dir/unknown.dwell"
sqlite3 "$dir/unknown.dwell" "UPDATE hooks SET events = NULL, bpf_ns = NULL, scaled_ns = NULL;
	UPDATE overhead SET bpf_ns = NULL; INSERT INTO meta VALUES ('cost_unknown', 'no clock')"
check "unknown cost: JSON follows its schema" follows_schema "$dir/unknown.dwell"
check "and has null, not 0" jq -e '.quality | .overhead.bpf_total_ns == null and .overhead.bpf_unknown == "no clock" and
	([.overhead.bpf_ns[], (.hooks[] | .events, .bpf_ns, .rate)] | all(. == null))' "$dir/out"
check "and the text says so" says 0 "not known in BPF" "$DWELL" report "$dir/unknown.dwell"
check "and names no silent hook" sh -c "! grep -q 'attached but silent' '$dir/out'"
check "JSON of a part does too" follows_schema "$server@1s-2s"
for options in "" "--kind blocked" "--state cpu" "--tid 501 --kernel" "--pid 4242"; do
	# shellcheck disable=SC2086
	check "JSON follows its schema: stacks.dwell $options" follows_schema "$stacks" $options
done
adds_up() {
	exits 0 "$DWELL" report --json "$@" && jq -e '.quality.stacks as $q |
		$q.samples == ([.stacks[].count] | add) and $q.weight_ns == ([.stacks[].weight_ns] | add) and
		$q.samples == $q.complete + ([$q.by_reason[]] | add) and
		([.stacks[] | (.frames | length) == (.frame_ids | length)] | all) and
		(. as $r | [.stacks[].frame_ids[] | select(. != null)] | all($r.frames[.] != null))' "$dir/out"
}
check "stacks of the JSON add up to its quality" adds_up "$stacks"
check "those of a thread too" adds_up "$stacks" --tid 501
check "stacks are shown" says 0 "44.7 %       76     serve::Worker::work()" "$DWELL" report --stacks "$stacks"
check "--by does so too" says 0 "python3.11" "$DWELL" report --by module --sort total "$stacks"
check "--why opens a state" says 0 "1.420 s  94.7 %  has stacks: 14 samples" "$DWELL" report --why blocked.lock "$stacks"
check "--why of a state that is none is wrong usage" says 64 "--why takes a state" "$DWELL" report --why blocked.luck "$stacks"
check "and all that there are are named" grep -q "unattributed, cpu, .*, blocked.disk-held$" "$dir/err"
check "--state of one that is none too" says 64 "not 'blocked.'" "$DWELL" report --state blocked. "$stacks"
check "--state of all that begin so is taken" says 0 "STACKS blocked.lock" "$DWELL" report --state blocked "$stacks"
check "--why with --state is wrong usage" says 64 "by itself" "$DWELL" report --why cpu --state cpu "$stacks"
check "a wrong --by is wrong usage" says 64 "--by is one of tree, function, module" "$DWELL" report --by name "$stacks"
check "a wrong --kind is wrong usage" says 64 "--kind is" "$DWELL" report --kind idle "$stacks"
check "a session without stacks says so" says 0 "has no stacks" "$DWELL" report --stacks "$run"
for options in "" --histograms "--signal runq --pid 500" --kernel; do
	# shellcheck disable=SC2086
	check "JSON follows its schema: signals.dwell $options" follows_schema "$signals" $options
done
has_signals() { exits 0 "$DWELL" report --json "$@" && jq -e '(.signals | keys) == $ARGS.positional' --args "${expected[@]}" <"$dir/out"; }
expected=(offcpu runq)
check "JSON has each signal that was chosen" has_signals "$signals"
expected=(runq)
check "--signal leaves those that it names" has_signals --signal runq "$signals"
expected=(offcpu runq)
check "it takes a list, and may be repeated" has_signals --signal runq --signal offcpu,runq "$signals"
check "signals have a section each" says 0 "SIGNAL offcpu" "$DWELL" report "$signals"
check "--signal has histograms" says 0 "1/HZ" "$DWELL" report --signal runq "$signals"
check "a signal that is none is wrong usage" says 64 "no signal 'luck'" "$DWELL" report --signal runq,luck "$signals"
check "nor is one that has no series" says 64 "no signal 'ledger'" "$DWELL" report --signal ledger "$signals"
check "--signal with --stacks is wrong usage" says 64 "by themselves" "$DWELL" report --signal runq --stacks "$signals"
check "a session without signals says so" says 0 "no signals" "$DWELL" report --signal runq "$run"

for options in "" "--slowest 3" "--pid 1003"; do
	# shellcheck disable=SC2086
	check "JSON follows its schema: requests.dwell $options" follows_schema "$requests" $options
done
check "JSON of a part of it too" follows_schema "$requests@1s-2s"
closes() {
	exits 0 "$DWELL" report --json --slowest 100 "$@" && jq -e '.requests | (.slowest | length == 73 and
		all(recurse(.calls[].answer | values) | .window_ns == ([.parts[].ns] | add))) and (.endpoints | length == 8 and
		all(.count == ([.outcomes[]] | add) and .count == ([.models[]] | add) and
			.kernel_bytes == .bytes_in_turns + ([.bytes_outside[]] | add)))' "$dir/out"
}
check "parts of requests sum to the window, bytes to the kernel's" closes "$requests"
check "requests are in the report" says 0 "nginx :80 GET /cart/:id: slow ones" "$DWELL" report "$requests"
check "--requests has the budgets" says 0 "BUDGETS" "$DWELL" report --requests "$requests"
check "and no request by itself" sh -c "! grep -q SLOWEST '$dir/out'"
check "--slowest has those" says 0 "SLOWEST REQUESTS" "$DWELL" report --slowest 4 "$requests"
check "and below it who answered its calls" grep -q "        calls postgres :5432 SELECT items, status OK" "$dir/out"
check "of a pid, no other process" sh -c "'$DWELL' report --requests --pid 1003 '$requests' >'$dir/pid' && grep -q 'SELECT items' '$dir/pid' &&
	! grep -q nginx '$dir/pid'"
check "of a part, its own" says 0 "REQUESTS: 6 endpoints in 1.000 s" "$DWELL" report --requests "$requests@1s-"
check "a session without requests says so" says 0 "no requests were recorded: record with -s requests" "$DWELL" report --requests "$run"
check "--slowest of nonsense is wrong usage" says 64 "--slowest takes a number of requests" "$DWELL" report --slowest 0 "$requests"
check "--requests with --html is wrong usage" says 64 "all views" "$DWELL" report --requests --html "$dir/x.html" "$requests"

# changed NAME SESSION SQL: a copy in which something else happened
changed() { cp "$2" "$dir/$1.dwell" && python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])' "$dir/$1.dwell" "$3"; }
changed deep "$signals" "INSERT INTO objects (id, kind, name) VALUES (7003, 1, '/srv/a-rather-long-name/of/several/folders/and/the-file-itself.log');
	INSERT INTO series VALUES (900, 'files', 'latency', 500, 90, 3, 7003, 0);
	INSERT INTO series_values VALUES (0, 900, 1, 20000000, 20000000, 0, 0, 0, 0, 0, '386:1');
	INSERT INTO slow VALUES (0, 1900000000, 'files', 'latency', 500, 90, 501, 3, 7003, 0, 20000000, 0, 0, 0, 20000000, 0, 0, 0, 0, 0, 0, 0);"
# on_80 ARGUMENTS...: a report on a terminal of 80 columns, into $dir/out
on_80() { script -qec "stty cols 80; $DWELL report --color never $*" /dev/null </dev/null | tr -d '\r' >"$dir/out"; }
on_80 --signal files "$dir/deep.dwell"
check "of a slow event on a long path, who did what stays" grep -qF "server (500) sync /srv/a-" "$dir/out"
check "and the file's name" says 0 "/the-file-itself.log," "$DWELL" report --signal files "$dir/deep.dwell"
# Ids of states never change: 7 is runq.woken, 17 blocked.child
changed queue "$run" "UPDATE ledger SET state = 7 WHERE state = 17"
check "a wait for a CPU is told against the time that was wanted" says 0 "of the time it could run" "$DWELL" report "$dir/queue.dwell"
changed parents "$stacks" "UPDATE samples SET state = 17, weight_ns = weight_ns * 1000 WHERE kind = 1"
changed again "$run" "INSERT INTO meta VALUES ('option.1', '-F 199'), ('option.2', '--exe /a b/it''s'), ('option.3', '--kernel=64K')"
check "how to run it again has each option, quoted" says 0 "Run again: sudo dwell run --tier B -F 199 --exe '/a b/it'\\''s' --kernel=64K -- \\" \
	"$DWELL" report "$dir/again.dwell"
check "a command's arguments are not kept, and that is said" says 0 "name only: replace" "$DWELL" report "$dir/again.dwell"
check "a session without its options says so" says 0 "Run again: not known" "$DWELL" report "$stacks"
changed sampled "$signals" "INSERT INTO series VALUES (900, 'syscalls', 'caller', 500, 90, 3, 0, 101);
	INSERT INTO series_values VALUES (0, 900, 10, 20000000, 20000000, 0, 0, 0, 0, 0, '386:10')"
check "what is an estimate is not called exact" says 0 "of caller, which are estimated" "$DWELL" report --signal syscalls "$dir/sampled.dwell"
changed older "$signals" "ALTER TABLE series_values DROP COLUMN sum1; ALTER TABLE series_values DROP COLUMN sum2"
check "a session of an older minor version is read" says 0 "SIGNAL runq" "$DWELL" report --signal runq "$dir/older.dwell"
check "stacks that wait for children are not the hot ones" says 0 "HOT STACKS of cpu" "$DWELL" report "$dir/parents.dwell"

check "a part is taken" says 0 "slice: from 1.000 s to 2.000 s, 1 whole window" "$DWELL" report "$server@1.2s-1900ms"
check "of a window in it by less than half nothing is taken" says 0 "slice: from 1.000 s to 2.000 s, 1 whole window" \
	"$DWELL" report "$server@0.9s-2.1s"
check "its end may be left out" says 0 "slice: from 2.000 s to 3.000 s" "$DWELL" report "$server@2s-"
check "its start too" says 0 "slice: from 0 ns to 1.000 s" "$DWELL" report "$server@-0.5"
check "a part where nothing is, is said" says 1 "no window" "$DWELL" report "$server@100s-"
check "nonsense for a part is wrong usage" says 64 "FROM-TO" "$DWELL" report "$server@soon"
cp "$run" "$dir/a@b"
check "a file with an @ in its name is found" says 0 "sh (pid 700)" "$DWELL" report "$dir/a@b"
check "no file is wrong usage" says 64 "needs a session" "$DWELL" report
check "two files are wrong usage" says 64 "one session" "$DWELL" report "$run" "$server"
check "an unknown pid list is wrong usage" says 64 "--pid takes" "$DWELL" report --pid 1,x "$run"
check "a wrong --color is wrong usage" says 64 "--color is" "$DWELL" report --color=blue "$run"
check "a file that is not there is said" says 1 "cannot read" "$DWELL" report "$dir/none"
echo "this is text, and long enough to be taken for a header of something" >"$dir/text"
check "a file of another kind is refused" exits 1 "$DWELL" report "$dir/text"
head -c 20000 "$run" >"$dir/cut"
check "a file that was cut is refused" exits 1 "$DWELL" report "$dir/cut"
: >"$dir/empty"
check "an empty file is refused" says 1 "not a dwell session" "$DWELL" report "$dir/empty"
check "a folder is refused" exits 1 "$DWELL" report "$dir"
exits 0 "$DWELL" report "$server"
check "no colour into a file, nor from the session" eval '! has_color'
exits 0 "$DWELL" report --color=always "$run"
check "colour if it is asked for" has_color
on_terminal() { script -qec "$DWELL report $run" /dev/null >"$dir/out" </dev/null; }
no_color() { NO_COLOR=1 on_terminal && ! has_color; }
dumb() { TERM=dumb on_terminal && ! has_color; }
color() { TERM=xterm on_terminal && has_color; }
unset NO_COLOR
check "colour on a terminal" color
check "none with NO_COLOR" no_color
check "none on a dumb one" dumb
narrow() {
	script -qec "stty cols 60; $DWELL report $run" /dev/null </dev/null | tr -d '\r' |
		sed -n '/^WHERE/,/^$/p' | awk 'length($0) > 60 { print; bad = 1 } END { exit bad || !NR }'
}
check "where the time went fits into 60 columns" eval 'NO_COLOR=1 narrow'
changed tall "$stacks" "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)
		INSERT INTO frames SELECT 1000 + i, 2, 65536 + i, 'deep_' || i, 'symtab', NULL, 0 FROM n;
	INSERT INTO stacks SELECT id + 8000, CASE id WHEN 1001 THEN 0 ELSE id + 7999 END, id, id - 1000 FROM frames WHERE id > 1000;
	INSERT INTO samples SELECT 0, 500, 90, 500, 90, 0, 2, 0, id, 1, 0, 0, 0, 10, (1 + id % 3) * 200000000, 0, 0 FROM stacks WHERE id > 9000"
check "what is deeper than the page says by how much" says 0 "                        [+2] deep_26" "$DWELL" report --stacks "$dir/tall.dwell"
check "so that it is not taken for its caller's" grep -qF "                        [+3] itself" "$dir/out"
changed far "$run" "UPDATE execs SET exe = '/opt/a-rather-long-name/of/several/folders/and/the-program-itself'"
fits_into() { [ "$(script -qec "stty cols $1; $DWELL report --color never ${*:2}" /dev/null </dev/null | tr -d '\r' | LC_ALL=C.UTF-8 wc -L)" -le "$1" ]; }
for columns in 60 80; do
	for view in "--cpus $run" "--execs $run" "--execs $dir/far.dwell" "--stacks $dir/tall.dwell" "--by function $dir/tall.dwell" "--why cpu $dir/tall.dwell" \
		"--slowest 9 $requests" "--requests --top 50 $requests"; do
		# shellcheck disable=SC2086
		check "a line fits into $columns columns: ${view% *} of ${view##*/}" fits_into $columns $view
	done
done
on_80 --execs "$dir/far.dwell"
check "of a long path both ends stay" grep -q "  /opt/a-.*….*the-program-itself$" "$dir/out"
# Piped output is as wide as COLUMNS says, and cuts no name.
wide() { COLUMNS=$1 "$DWELL" report "${@:2}" | LC_ALL=C.UTF-8 wc -L; }
wider() { [ "$(wide 150 "$dir/causes.dwell")" -gt 100 ] && [ "$(wide 150 "$dir/causes.dwell")" -le 150 ]; }
check "a pipe is as wide as COLUMNS says" wider
whole() { COLUMNS=80 "$DWELL" report "$@" | grep -q "postgres  postgresql.service$" && ! "$DWELL" report "$@" | grep -q "…$"; }
check "and what goes into it is not cut" whole "$dir/causes.dwell"
rows() { "$DWELL" report --top "$1" "$dir/causes.dwell" | sed -n '/^CPU by/,/^$/p' | grep -c "%.* s "; }
check "--top says how many rows a table has" eval '[ "$(rows 3)" -eq 4 ] && [ "$(rows 5)" -eq 6 ]'
check "--top of nonsense is wrong usage" says 64 "--top takes" "$DWELL" report --top 0 "$run"
fits() { exits 0 "$DWELL" "$@" && awk 'length($0) > 80 { print; bad = 1 } END { exit bad }' "$dir/out"; }
for command in "" run record trace report diff export doctor; do
	# shellcheck disable=SC2086 # none is none
	check "dwell $command --help fits into 80 columns" fits $command --help
done
# The stop 6, no row, becomes 13, no page.
full="UPDATE samples SET stop = 13 WHERE stop = 6; INSERT INTO meta VALUES ('unwind_rows_capacity', '2097152'),
	('unwind_rows_most', '2097100'), ('unwind_pages_asked', '900'), ('unwind_pages_evicted', '512')"
changed calm "$stacks" "$full, ('unwind_pages_refused', '0'), ('unwind_pages_again', '0')"
changed full "$stacks" "$full, ('unwind_pages_refused', '77'), ('unwind_pages_again', '5')"
changed crowded "$stacks" "INSERT INTO meta VALUES ('unwind_tables_full', '2'), ('unwind_processes_refused', '3')"
warns() { exits 0 "$DWELL" report "$dir/$1.dwell" && tr '\n' ' ' <"$dir/out" | tr -s ' ' | grep -qF -- "$2"; }
check "an unwind table that was full is reported" warns full "! unwind table full: 3 of 215 stacks (1.4 %) are incomplete (no page); \
77 page loads refused, 512 pages evicted at a capacity of 2,097,152 rows; raise it with --unwind-rows 8M"
check "pages that came late alone are not" eval '! warns calm "table full"'
check "files that did not fit are reported" warns crowded "! unwind tables full: 5 files or processes did not fit"
check "JSON has it" eval 'follows_schema "$dir/full.dwell" && jq -e ".quality.unwind.pages_refused == 77" "$dir/out"'
check "help is there" says 0 "Usage: dwell report" "$DWELL" report --help
finish
