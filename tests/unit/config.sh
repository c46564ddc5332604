#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `dwell config --print` and --config as they are typed: what is printed is read back to the same, errors name their
# line, the command line overrides the file, the run id is what docs/session.md says.
. tests/lib.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# refuses TEXT MESSAGE: a file with this text is, with the message
refuses() {
	printf '%b' "$1" >"$dir/run.yaml"
	(cd "$dir" && "$OLDPWD/$DWELL" config --print --config run.yaml) >"$dir/out" 2>"$dir/err"
	[ $? -eq 64 ] && grep -qF -- "dwell: run.yaml:$2" "$dir/err" || { cat "$dir/out" "$dir/err"; return 1; }
}
prints() { "$DWELL" config --print "$@"; }
same_again() { prints "$@" >"$dir/a.yaml" && prints --config "$dir/a.yaml" >"$dir/b.yaml" && diff "$dir/a.yaml" "$dir/b.yaml"; }
has() { grep -qxF -- "$1" "$dir/a.yaml" || { cat "$dir/a.yaml"; return 1; }; }

check "the defaults are read back" same_again
check "and have a sampling rate" has "freq: 49"
check "options of all kinds are read back" same_again -a -d 1.5m -F 99 -s tcp,block -s runq --kernel --live --slow 0 \
	--label "a=it's: b" --label c=d --note "# true" --comm "a, b" --rotate 60s --keep 3 --warmup 5
check "with values that look like YAML" has "note: '# true'"
check "and lists in order" has "signals: [block, runq, tcp]"
check "an option with a value that may be left out is read back" same_again --kernel=128K
check "a command is not in it" eval 'prints -F 1 -- sleep 1 >"$dir/a.yaml" && ! grep -v "^#" "$dir/a.yaml" | grep sleep'

check "an option that there is not" refuses 'all: true\nfrequenzy: 9\n' "2: there is no option 'frequenzy'; did you mean 'freq'?"
check "a wrong value, by the option's own parser" refuses '\n\nfreq: often\n' "3: -F is a number of samples a second, from 0 to 10000, not 'often'"
check "a wrong type" refuses 'lines: 5' "1: 'lines' is true or false, not '5'"
check "a key twice" refuses 'freq: 1\nlines: true\nfreq: 2\n' "3: 'freq' is there twice, first in line 1"
check "a list where one value belongs" refuses 'freq: [1, 2]' "1: 'freq' takes one value, not a list"
check "a signal that there is not, in a list" refuses 'signals:\n  - block\n  - bloc\n' "3: there is no signal 'bloc'"
check "a command" refuses 'all: true\ncommand: rm' "2: a command is not an option"
check "a file in a file" refuses 'config: x.yaml' "1: 'config' belongs on the command line"
check "help instead of a measurement" refuses 'signals: help' "1: 'help' is for the command line"
check "no YAML" refuses 'all: true\n\tfreq: 1' "2: "
check "an alias" refuses 'all: &x true\nlines: *x' "1: anchors and tags are not supported"
check "a file that is not there" eval '! prints --config "$dir/none.yaml" 2>"$dir/err" && grep -q "none.yaml: No such file" "$dir/err"'
check "a device" eval '! prints --config /dev/zero 2>"$dir/err" && grep -q "not a regular file" "$dir/err"'

# Every option that record has is one of the file, unless it belongs on the command line.
every_option() {
	local name bad=0
	for name in $("$DWELL" record --help | grep -oE '^  (-[a-zA-Z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
		printf '%s: 1\n' "${name#--}" >"$dir/one.yaml"
		prints --config "$dir/one.yaml" >"$dir/out" 2>"$dir/err"
		if grep -q "there is no option" "$dir/err"; then
			echo "$name"
			bad=1
		fi
	done
	return $bad
}
check "every option of record may be in a file" every_option

cat >"$dir/over.yaml" <<-'END'
	all: true
	freq: 10
	signals: [block, tcp]
	lines: true
END
overrides() { prints --config "$dir/over.yaml" "$@" >"$dir/a.yaml"; }
check "the command line overrides a value" eval 'overrides -F 20 && has "freq: 20" && has "all: true" && has "lines: true"'
check "and a list as a whole" eval 'overrides -s runq && has "signals: runq"'
check "another choice of tasks replaces the file's" eval 'overrides -p $$ && has "pid: $$" && ! has "all: true" >/dev/null'
check "so does a command" eval 'overrides -- sleep 1 && ! has "all: true" >/dev/null'
check "--config and --like do not go together" eval '! prints --config x --like y 2>"$dir/err" && grep -q "leave one of them out" "$dir/err"'

# The id by the rule of docs/session.md, from the printed file and what readelf says.
by_rule() {
	prints "$@" >"$dir/a.yaml" && python3 - "$dir/a.yaml" "$(readelf -n "$DWELL" | sed -n 's/.*Build ID: //p')" <<-'END'
		import re, sys
		lines = open(sys.argv[1]).read().splitlines()
		printed = re.search(r"run id ([0-9a-f]{16})", lines[0]).group(1)
		text = f"dwell run id 1\n{sys.argv[2]}\nrecord\n\n"
		for line in lines[1:]:
		    key, value = line.split(": ", 1)
		    if key in "output rotate keep label note verbose quiet json".split():
		        continue
		    for one in value[1:-1].split(", ") if value[0] == "[" else [value]:
		        one = one[1:-1] if one[0] == "'" else one
		        text += key + ("" if one == "true" else " " + one) + "\n"
		h = 0xcbf29ce484222325
		for byte in text.encode():
		    h = (h ^ byte) * 0x100000001b3 % 2**64
		print(f"printed {printed}, by the rule {h:016x}")
		sys.exit(printed != f"{h:016x}")
	END
}
check "the run id is that of docs/session.md" by_rule -a -s tcp,block -F 99 --lines --label a=b --note "x y" -o "$dir/x.dwell"
id() { prints "$@" | sed -n 's/.*run id \([0-9a-f]*\)$/\1/p'; }
same_id() { [ -n "$(id -a)" ] && [ "$(id -a)" = "$(id -a "$@")" ]; }
check "labels, notes and files do not change it" same_id --label a=b --note c -o d.dwell --rotate 5s --keep 2 -q
check "nor does a default that is typed" same_id -F 49 --min-block 1ms
check "another rate does" eval '! same_id -F 50'
# alike ARGUMENTS / ARGUMENTS: both are one configuration, and not that without them
alike() {
	local one=()
	while [ "$1" != / ]; do one+=("$1"); shift; done
	shift
	[ "$(id -a "${one[@]}")" = "$(id -a "$@")" ] && ! same_id "$@"
}
check "two ways to type a time are one" alike -d 10 / -d 10s
check "also with another unit" alike -d 1.5m --warmup 2 --slow 0.02s / -d 90 --warmup 2000ms --slow 20ms
check "and a size, a percentage, a letter, a number" alike --unwind-rows 4096K --max-overhead 2 --tier b -F 099 --seed 7 / \
	--unwind-rows 4M --max-overhead "2.0 %" --tier B -F 99 --seed 07
check "but not a bare number that is no time" eval '[ "$(id -a -F 10)" != "$(id -a -d 10)" ]'
check "names are as they were typed" eval 'prints --comm 010 >"$dir/a.yaml" && has "comm: 010"'

# A session's options, as --like takes them: from anybody.
make_session server "$dir"
session=$dir/server.dwell
with_option() {
	cp "$session" "$dir/like.dwell"
	sqlite3 "$dir/like.dwell" "INSERT INTO meta VALUES ('option.2', '$1')"
	prints --like "$dir/like.dwell" >"$dir/a.yaml" 2>"$dir/err"
}
check "--like takes the options of a session" eval 'with_option "-F 77" && has "freq: 77" && has "max-overhead: 1%" && has "all: true"'
check "and prints them" grep -qF "like.dwell: --freq 77" "$dir/err"
check "not where it wrote" eval 'with_option "-o /tmp/x" && ! grep output "$dir/a.yaml"'
check "nor how many files" eval 'with_option "--rotate 1s" && ! grep rotate "$dir/a.yaml"'
check "one that there is not is refused" eval '! with_option "--frobnicate 1" && grep -qF "option.2: there is no option" "$dir/err"'
check "so is a wrong value" eval '! with_option "-F many" && grep -qF "like.dwell: option.2: -F is a number" "$dir/err"'
check "so is another file" eval '! with_option "--config /etc/passwd" && grep -qF "belongs on the command line" "$dir/err"'
check "a control character is refused" eval '! with_option "--note a
b" && grep -qF "control character" "$dir/err"'
sqlite3 "$session" "UPDATE meta SET value = 'trace' WHERE key = 'kind'"
check "a session of another command is refused" eval '! prints --like "$session" 2>"$dir/err" && grep -qF "it is of another command" "$dir/err"'
check "a file that is no session is refused" eval '! prints --like "$dir/over.yaml" 2>"$dir/err" && grep -qF "not a dwell session" "$dir/err"'
finish
