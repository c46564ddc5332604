#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/run --again: only tests marked as timing tests are run again, and others where the hypervisor took the CPU away.
# Each retry is counted and reported.
. tests/lib.sh

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# What tests/run takes for /proc/stat: a test that makes it so had a fifth of the CPU time stolen.
export STAT_FILE=$folder/stat
# STOLEN_UNTIL=N: in its first N runs
STOLEN_UNTIL=0

# make_test NAME MARKER PASSES_AT: passes in that run, and in none before; 0: never
make_test() {
	echo "cpu 1000 0 0 0 0 0 0 0" >"$STAT_FILE"
	cat >"$folder/$1" <<-END
		#!/bin/bash
		# SPDX-License-Identifier: Apache-2.0
		# $2
		echo run >>"$folder/$1.runs"
		runs=\$(wc -l <"$folder/$1.runs")
		[ \$runs -gt $STOLEN_UNTIL ] || echo "cpu \$((1000 + runs * 80)) 0 0 0 0 0 0 \$((runs * 20))" >"$STAT_FILE"
		[ \$runs -eq $3 ] && echo "ok - it" && exit
		echo "not ok - it"
		exit 1
	END
	chmod +x "$folder/$1"
}

# run_again NAME...: what it prints in $folder/out, with the end of .ci/run in $folder/end; its status
run_again() {
	rm -f "$folder/tally" "$folder/end"
	TALLY=$folder/tally FAILURES=$folder/end tests/run --again "${@/#/$folder/}" >"$folder/out" 2>&1
}
fails() { ! "$@" || { cat "$folder/out"; return 1; }; }
passes() { "$@" || { cat "$folder/out"; return 1; }; }
ran() { [ "$(wc -l <"$folder/$1.runs")" -eq "$2" ] || { wc -l "$folder/$1.runs"; return 1; }; }
last_line_is() { [ "$(tail -n 1 "$folder/out")" = "$1" ] || { tail -n 1 "$folder/out"; return 1; }; }

make_test plain "It is a functional test." 2
check "a functional test that fails has failed" fails run_again plain
check "and ran once" ran plain 1
check "no retry is counted" last_line_is "0 passed, 1 failed"

make_test late "timing: it is slow at first" 2
check "a timing test that passes the second time passes" passes run_again late
check "and ran twice" ran late 2
check "the retry is in the sum" last_line_is "1 passed, 0 failed, 1 retried"
check "and in the tally of .ci/run" test "$(cat "$folder/tally")" = "1 0 0 1"
check "the end of .ci/run names it, with its reason" grep -q '^# retried: late, .*(it is slow at first)' "$folder/end"
check "and has what had failed" grep -q '^# not ok yet - it' "$folder/end"

make_test never "timing: it never is in time" 0
check "one that fails three times has failed" fails run_again never
check "and ran three times" ran never 3

STOLEN_UNTIL=3
make_test robbed "timing: it never is in time" 0
check "one whose CPU time was stolen each time is not judged" passes run_again robbed
check "which is counted" last_line_is "0 passed, 0 failed, 1 skipped, 2 retried"

STOLEN_UNTIL=1
make_test disturbed "It is a functional test." 2
check "a functional test whose CPU time was stolen may pass the second time" passes run_again disturbed
check "the end of .ci/run says why" grep -q '^# retried: disturbed, .*(20 % of the CPU time was stolen)' "$folder/end"

make_test broken "It is a functional test." 0
check "and has failed if it fails without that" fails run_again broken
check "the second time" ran broken 2

STOLEN_UNTIL=3
make_test hopeless "It is a functional test." 0
check "or three times with it" fails run_again hopeless
check "it is always judged" last_line_is "0 passed, 1 failed, 2 retried"
STOLEN_UNTIL=0

make_test parts "It repeats a part of itself." 1
sed -i 's/^echo run/echo "# retried: a part of it"; echo run/' "$folder/parts"
check "a part that a test repeats by itself is a retry" passes run_again parts
check "which is counted" last_line_is "1 passed, 0 failed, 1 retried"

# Each of the live tests that may be retried says why; a reason that is not found marks nothing.
check "reasons are in the head, where tests/run looks" test \
	"$(grep -lE '^(#| \*|//) timing:' tests/live/*.sh tests/live/*_test.c | wc -l)" -eq \
	"$(for file in tests/live/*.sh tests/live/*_test.c; do sed -nE '1,15s/^(#| \*|\/\/) timing: .+/x/p' "$file"; done | wc -l)"
finish
