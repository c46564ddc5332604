#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The export for speedscope in speedscope's own app, in a browser: it shows the profiles and functions of the file, with
# their times. Its packages come by: npm ci --prefix tests/speedscope
. tests/lib.sh

browser=$(command -v chromium || command -v chromium-browser)
if [ ! -d tests/speedscope/node_modules ] || [ -z "$browser" ] || ! command -v node >/dev/null; then
	skip "speedscope shows the export" "no node, no chromium, or no packages: npm ci --prefix tests/speedscope"
	finish
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
make_session stacks "$dir"
"$DWELL" export -q -f speedscope -o "$dir/x.json" "$dir/stacks.dwell"
shows() {
	timeout 60 node tests/speedscope/open.mjs "$browser" "$dir/x.json" >"$dir/shown" && python3 - "$dir/x.json" "$dir/shown" <<-'END'
		import collections, json, sys

		with open(sys.argv[1]) as file, open(sys.argv[2]) as shown:
		    document, shown = json.load(file), json.load(shown)
		profiles, rows = document["profiles"], shown["rows"]
		units = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}

		def ns(text):
		    number = text.split(" ")[0].rstrip("nsµm")
		    unit = text.split(" ")[0][len(number):]
		    return float(number) * units[unit], units[unit] * 0.005 + 1

		def same(text, value):
		    found, tolerance = ns(text)
		    return abs(found - value) <= tolerance

		assert [row[1] for row in rows[:len(profiles)]] == [p["name"] for p in profiles], rows[:len(profiles)]
		assert all(same(row[2], p["endValue"]) for row, p in zip(rows, profiles)), rows[:len(profiles)]
		# A browser shows the end of a line in a name as a space.
		names = [frame["name"].replace("\n", " ") for frame in document["shared"]["frames"]]
		selves, totals = collections.Counter(), collections.Counter()
		for stack, weight in zip(profiles[0]["samples"], profiles[0]["weights"]):
		    selves[names[stack[-1]]] += weight
		    for name in {names[frame] for frame in stack}:
		        totals[name] += weight
		functions = {row[2]: row for row in rows[len(profiles):]}
		assert set(functions) == set(totals), set(functions) ^ set(totals)
		for name, row in functions.items():
		    assert same(row[0], totals[name]) and same(row[1], selves[name]), (row, totals[name], selves[name])
	END
}
check "speedscope shows the profiles, and each function with its times, to the digits that it prints" shows
finish
