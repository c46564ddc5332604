#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timing: the page of a large session has to open, and to answer, within stated times
#
# The HTML report in a headless Chromium: tests/browser/page.mjs has the checks. LARGE_SESSION names the session of an
# hour of 10,000 threads (tests/generate_session.py), or LARGE_PAGE its report, for the times that it must hold; without
# either they are left out, as both take a while to make.
. tests/lib.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

for need in chromium:chromium node:nodejs; do
	if ! command -v "${need%:*}" >/dev/null; then
		skip "the page in a browser" "no ${need%:*}: apt-get install ${need#*:}"
		exit 0
	fi
done
if [ ! -d web/node_modules/playwright-core ] || [ ! -d web/node_modules/axe-core ]; then
	skip "the page in a browser" "no web/node_modules: cd web && npm ci"
	exit 0
fi
if ! "$DWELL" report --help | grep -q -- --html; then
	skip "the page in a browser" "dwell was built without the page (WEB=0)"
	exit 0
fi

# markup FILE: each name that a session has becomes markup that would leave a trace if it ran
markup() {
	python3 - "$1" <<-'END'
		import sqlite3, sys
		db = sqlite3.connect(sys.argv[1])
		bad = ["<img src=x onerror='window.dwellWasHere=1'>", "<script>window.dwellWasHere=1</script>", "</script><svg onload=dwellWasHere=1>"]
		columns = {"processes": ["comm", "exe", "service", "cgroup", "container"], "threads": ["comm"], "frames": ["name"],
		           "modules": ["path"], "objects": ["name"], "labels": ["name"]}
		for table, names in columns.items():
		    present = {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
		    for number, name in enumerate(names):
		        if name in present:
		            db.execute(f"UPDATE {table} SET {name} = ? || rowid WHERE rowid % 2 = 0", (bad[number % 2],))
		            db.execute(f"UPDATE {table} SET {name} = ? || rowid WHERE rowid % 2 = 1", (bad[(number + 1) % 3],))
		for key in "host", "command", "note", "filter":
		    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, bad[2]))
		db.commit()
	END
}

# markup_requests FILE: likewise what requests and calls ask for; servers keep their names
markup_requests() {
	sqlite3 "$1" <<-'END'
		UPDATE endpoints SET name = name || ' <script>window.dwellWasHere=1</script>';
		UPDATE requests SET status = status || '<img src=x onerror=dwellWasHere=1>';
		UPDATE request_calls SET name = name || ' </script><svg onload=dwellWasHere=1>', status = '<img src=x onerror=dwellWasHere=1>';
	END
}

tests/generate_session.py "$dir/page.dwell" --seconds 40 --threads 300 --stacks 3000 --active 40 >/dev/null || exit 1
cp "$dir/page.dwell" "$dir/hostile.dwell"
markup "$dir/hostile.dwell"
for name in page hostile; do
	check "dwell report --html: $name" timeout 60 "$DWELL" report --html "$dir/$name.html" "$dir/$name.dwell"
done
tests/sessions/compare.py "$dir/later.dwell" seed=9 seconds=60 cpu=1.3 from=30
markup "$dir/later.dwell"
check "dwell diff --html" timeout 60 "$DWELL" diff --html "$dir/diff.html" "$dir/later.dwell@0-28s" "$dir/later.dwell@28s-60s"
make_session causes "$dir"
check "dwell report --html: chains" timeout 60 "$DWELL" report --html "$dir/chains.html" "$dir/causes.dwell"
make_session requests "$dir"
markup_requests "$dir/requests.dwell"
check "dwell report --html: requests" timeout 60 "$DWELL" report --html "$dir/requests.html" "$dir/requests.dwell"
if [ -n "${LARGE_SESSION:-}" ] && [ -z "${LARGE_PAGE:-}" ]; then
	LARGE_PAGE=$dir/large.html
	check "dwell report --html: large" timeout 300 "$DWELL" report --html "$LARGE_PAGE" "$LARGE_SESSION"
fi
LEDGER_NS=$(python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT SUM(ns) FROM ledger").fetchone()[0])' "$dir/page.dwell")
export LEDGER_NS
timeout 200 node tests/browser/page.mjs "$dir/page.html" "$dir/hostile.html" "$dir/diff.html" "$dir/chains.html" \
	"$dir/requests.html" "${LARGE_PAGE:--}" ||
	failures=1
finish
