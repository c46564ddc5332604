#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `dwell diff --html`: the page has the comparison that --json prints, and the first session of each side; a page that
# cannot be complete is not there.
. tests/lib.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
any_page=$TOOLS/dwell-any-page
export DWELL_TEST_PAGE='<!doctype html><title>x</title><!-- dwell-data --><p>end</p>'

make() { tests/sessions/compare.py "$dir/$1.dwell" "${@:2}"; }
says() { exits "$1" "${@:3}" && grep -qF -- "$2" "$dir/err"; }
# page ARGUMENT...: a page, and the JSON of the same comparison
page() {
	rm -f "$dir/page.html"
	exits 0 "$any_page" diff --html "$dir/page.html" "$@" && "$any_page" diff --json "$@" >"$dir/json"
}
# has EXPRESSION: in Python, of `raw` (parts as they are), `diff` (JSON), `b` and `a` (parts of the two sessions)
has() {
	python3 - "$dir/page.html" "$dir/json" "$1" <<-'END'
		import json, sys
		sys.path.insert(0, "tests")
		import page_parts
		raw = page_parts.raw_parts(sys.argv[1])
		diff = json.load(open(sys.argv[2]))
		a, b = page_parts.parts(sys.argv[1], "baseline."), page_parts.parts(sys.argv[1])
		text = open(sys.argv[1], encoding="utf-8").read()
		assert eval("(" + sys.argv[3] + ")"), [part["head"]["session"] for part in (a, b)]
	END
}

make a seed=1
make slower seed=3 cpu=1.1 render=1.2
make later seed=9 seconds=60 cpu=1.3 from=30
for i in 1 2 3; do make "x$i" seed=$((20 + i)); make "y$i" seed=$((30 + i)) cpu=1.1; done

check "a page of two sessions" page "$dir/a.dwell" "$dir/slower.dwell"
check "has the comparison that --json prints" has 'raw["diff"] == diff'
check "which follows its schema" sh -c "python3 -c 'import sys; sys.path.insert(0, \"tests\"); import json, page_parts
print(json.dumps(page_parts.raw_parts(sys.argv[1])[\"diff\"]))' '$dir/page.html' >'$dir/part' && tests/schema.py docs/diff.schema.json '$dir/part'"
check "shows B, with A as its baseline" has '[part["head"]["session"]["file"] for part in (a, b)] == ["a.dwell", "slower.dwell"]'
check "is the template with data in it, once" has 'text.startswith("<!doctype html>") and text.rstrip().endswith("<p>end</p>") and
	text.count("<p>end</p>") == text.count("<title>") == 1 and list(raw)[0] == "diff"'
check "the page of B follows the contract, its sums are SQL's" tests/page_check.py "$dir/page.html" "$dir/slower.dwell"

check "parts of one session" page "$dir/later.dwell@0-28s" "$dir/later.dwell@28s-60s"
check "are the parts that the page shows" has '[(part["head"]["session"]["begin_ns"], part["head"]["session"]["duration_ns"]) for part in (a, b)] ==
	[(0, 28 * 10**9), (28 * 10**9, 32 * 10**9)]'
check "and have an order of onset" has '[line["onset_s"] for line in diff["lines"] if line["label"].startswith("cpu.user of")][0] == 30'
check "several runs a side" page "$dir"/x?.dwell -- "$dir"/y?.dwell
check "show the first of each" has '[part["head"]["session"]["file"] for part in (a, b)] == ["x1.dwell", "y1.dwell"] and len(diff["runs"]) == 6'

check "- is stdout" exits 0 "$any_page" diff --html - "$dir/a.dwell" "$dir/slower.dwell"
check "with the page" grep -q 'data-part="diff"' "$dir/out"
check "--fail-over writes the page, and exits with 3" exits 3 "$any_page" diff --fail-over 5% --html "$dir/over.html" "$dir/a.dwell" "$dir/slower.dwell"
check "which is complete" grep -q "<p>end</p>" "$dir/over.html"

make freq seed=2 freq=49
check "a comparison that is refused" says 1 "is not fair: sampling rate" "$any_page" diff --html "$dir/no.html" "$dir/a.dwell" "$dir/freq.dwell"
check "leaves no file" sh -c "! ls '$dir'/no.html* 2>/dev/null"
check "nor does a session that is not there" exits 1 "$any_page" diff --html "$dir/no.html" "$dir/a.dwell" "$dir/none.dwell"
check "no.html is not there" sh -c "! ls '$dir'/no.html* 2>/dev/null"
check "--html has all lines: --top is wrong usage" says 64 "leave out --json and --top" "$any_page" diff --html x --top 3 "$dir/a.dwell" "$dir/slower.dwell"
check "so is --json" exits 64 "$any_page" diff --html x --json "$dir/a.dwell" "$dir/slower.dwell"
check "built without the page, it says so" says 77 "built without the page" \
	env -u DWELL_TEST_PAGE "$any_page" diff --html "$dir/no.html" "$dir/a.dwell" "$dir/slower.dwell"

# A baseline of a report: names choose in both, a part is its own.
baseline() { rm -f "$dir/page.html"; "$any_page" report --html "$dir/page.html" "$@" && echo '{}' >"$dir/json"; }
check "report: a part of the baseline" baseline --baseline "$dir/a.dwell@5s-10s" --comm server "$dir/slower.dwell@2s-4s"
check "is shown, with the processes that were chosen" has '[(part["head"]["session"]["begin_ns"], part["head"]["session"]["duration_ns"],
	part["head"]["session"]["shown"]) for part in (a, b)] == [(5 * 10**9, 5 * 10**9, "comm server"), (2 * 10**9, 2 * 10**9, "comm server")]'

# Names of any length, of characters of several bytes, are cut at a character's end.
sqlite3 "$dir/slower.dwell" "UPDATE frames SET name = 'x' || replace(hex(zeroblob(200)), '00', 'é') WHERE name = 'render'"
sqlite3 "$dir/a.dwell" "UPDATE frames SET name = 'x' || replace(hex(zeroblob(200)), '00', 'é') WHERE name = 'render'"
check "a long name of such characters" page "$dir/a.dwell" "$dir/slower.dwell"
check "is in the verdict" has '"éééé" in diff["verdict"][1]'
finish
