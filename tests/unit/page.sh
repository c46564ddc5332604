#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `dwell report --html`: the data follows docs/page-data.md, its sums are the session's, no name becomes markup.
. tests/lib.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
any_page=$TOOLS/dwell-any-page
export DWELL_TEST_PAGE='<!doctype html><title>x</title><!-- dwell-data --><p>end</p>'
for session in run server signals stacks causes hostile requests; do
	make_session $session "$dir"
done

says() { exits "$1" "${@:3}" && grep -qF -- "$2" "$dir/out" "$dir/err"; }
is_right() { exits 0 "$any_page" report --html "$dir/$1.html" "$dir/$1.dwell" && tests/page_check.py "$dir/$1.html" "$dir/$1.dwell"; }

for session in run server signals stacks causes hostile requests; do
	check "the page of $session follows the contract, its sums are SQL's" is_right $session
done
part_is_right() {
	exits 0 "$any_page" report --html "$dir/part.html" "$dir/hostile.dwell@2s-5s" &&
		tests/page_check.py "$dir/part.html" "$dir/hostile.dwell" 2 4
}
check "a part of a session has the sums of its windows" part_is_right

# 2,000 threads with 300 stacks each have too many rows for any bucket; their groups have not.
add_samples() {
	python3 - "$dir/many.dwell" <<-'END'
		import sqlite3, sys
		db = sqlite3.connect(sys.argv[1])
		stacks = db.execute("SELECT DISTINCT stack, stop FROM samples WHERE kind = 0 ORDER BY 1 LIMIT 300").fetchall()
		threads = db.execute("SELECT pid, process_start_ns, tid, start_ns FROM threads WHERE is_kernel = 0").fetchall()
		db.executemany("INSERT INTO samples (window, pid, process_start_ns, tid, thread_start_ns, kind, state, stack, stop, count,"
		               " weight_ns) VALUES (?, ?, ?, ?, ?, 0, 0, ?, ?, 1, ?)",
		               ((i % 150, *thread, *stack, 1000 + thread[2]) for thread in threads for i, stack in enumerate(stacks)))
		db.commit()
	END
}

# A session with more rows than a page has: longer buckets, the same sums.
many_rows() {
	python3 tests/generate_session.py "$dir/many.dwell" --seconds 150 --threads 2000 --stacks 500 --active 1000 >/dev/null &&
		add_samples && is_right many && python3 - "$dir/many.html" <<-'END'
		import sys
		sys.path.insert(0, "tests")
		import page_parts
		parts = page_parts.parts(sys.argv[1])
		assert parts["ledger"]["host"]["windows"] == 1, "the host's buckets are longer than a window"
		assert len(parts["threads"]["rows"]["ns"]) <= 400000, "too many rows of threads"
		END
}
check "a session with more rows than a page has keeps its sums" many_rows
many_samples() {
	python3 - "$dir/many.html" <<-'END'
		import sys
		sys.path.insert(0, "tests")
		import page_parts
		parts = page_parts.parts(sys.argv[1])
		assert len(parts["samples"]["rows"]["node"]) <= 500000, "too many rows of samples"
		assert [limit for limit in parts["head"]["limits"] if limit["part"] == "samples"], "all fit: insert more"
		assert parts["group_samples"]["windows"] == 1, "the buckets of groups are longer than a window"
	END
}
check "samples that find no room by thread are complete by group" many_samples

# Of the thread that is silent from the middle of window 0 to the end of window 10: half a window, then ten whole ones.
silence_is_spread() {
	python3 - "$dir/hostile.html" <<-'END'
		import sys
		sys.path.insert(0, "tests")
		import page_parts
		parts = page_parts.parts(sys.argv[1])
		rows = parts["threads"]["rows"]
		silent = parts["subjects"]["threads"]["tid"].index(600)
		found = [(rows["bucket"][i], rows["span"][i], rows["ns"][i]) for i, thread in enumerate(rows["thread"])
		         if thread == silent and rows["state"][i] == 10]
		assert found == [(0, 1, 500000000), (1, 10, 10000000000)], found
		host = parts["ledger"]["host"]["rows"]
		waits = {bucket: ns for bucket, state, ns in zip(host["bucket"], host["state"], host["ns"]) if state == 10}
		assert waits == {0: 500000000, **{window: 1000000000 for window in range(1, 11)}}, waits
	END
}
check "the one row of a silence is where the silence was" silence_is_spread

# Whatever names are, the file has no element but the page's own and the parts, and they are base64.
no_markup() {
	python3 - "$dir/hostile.html" <<-'END'
		import html.parser, re, sys
		text = open(sys.argv[1], encoding="utf-8").read()
		tags = []
		class Reader(html.parser.HTMLParser):
		    def handle_starttag(self, tag, attrs): tags.append((tag, tuple(sorted(dict(attrs)))))
		Reader().feed(text)
		expected = {("title", ()), ("p", ()), ("script", ("data-part", "type"))}
		assert set(tags) == expected, set(tags) - expected
		bodies = re.findall(r"<script[^>]*>(.*?)</script>", text, re.S)
		assert len(bodies) > 8 and all(re.fullmatch(r"[A-Za-z0-9+/]+=*", body) for body in bodies)
		sys.path.insert(0, "tests")
		import page_parts
		parts = page_parts.parts(sys.argv[1])
		names = parts["subjects"]["processes"]["comm"] + parts["stacks"]["functions"]["name"]
		assert "</script><script" in names, names
		assert any("�" in name for name in names), "bytes that are no UTF-8 became something else than U+FFFD"
		assert parts["head"]["session"]["host"] == '<script>alert("host")</script>'
		kinds = {mark["kind"]: mark for mark in parts["head"]["marks"]}
		assert kinds["loss"]["count"] == 7 and kinds["loss"]["ts_ns"] == 4000000000, kinds
		assert kinds["step"]["ts_ns"] == 4500000000, kinds
	END
}
check "names that are markup stay text" no_markup

# What a thread did while another one waited adds up to that wait; a link is of a chain, and the one before it is followed.
links_add_up() {
	python3 - "$dir/causes.html" <<-'END'
		import sys
		sys.path.insert(0, "tests")
		import page_parts
		tables = {table["id"]: table for table in page_parts.parts(sys.argv[1])["tables"]["tables"]}
		chains, rows = tables["chains"]["rows"], tables["chain_links"]["rows"]
		sums, waits, followed = {}, {}, {}
		for i, key in enumerate(zip(rows["chain"], rows["link"])):
		    sums[key] = sums.get(key, 0) + rows["ns"][i]
		    waits[key] = rows["wait_ns"][i]
		    if rows["followed"][i]:
		        followed[key] = rows["ns"][i]
		assert sums == waits, (sums, waits)
		for chain, ns in enumerate(chains["ns"]):
		    assert waits[chain, 0] == ns, (chain, ns, waits)
		assert all((chain, link - 1) in followed for chain, link in waits if link), followed
		assert any(link for _, link in waits), "no chain has two links"
	END
}
check "the links of a chain add up to its wait" links_add_up

# A budget is the average that the text report prints; a call without a server here has no answer; a part has its own.
requests_are_right() {
	python3 - "$dir/requests.html" <<-'END'
		import sys
		sys.path.insert(0, "tests")
		import page_parts
		data = page_parts.parts(sys.argv[1])["requests"]
		calls, requests, endpoints = data["calls"], data["requests"], data["endpoints"]
		grades = [data["grades"][grade]["name"] for grade in calls["grade"]]
		found = {peer: (grade, answer) for peer, grade, answer in zip(calls["peer"], grades, calls["answer"]) if grade != "confirmed"}
		assert found.pop("postgres :5432") == ("published", 0) or found, found
		assert found == {"10.0.0.9:6379": ("forward", -1), "/run/cache.sock": ("backward", -1), "python3 :8000": ("backward", -1)}, found
		# nginx asks the application, and this the database, in its answer to that call.
		answers = {answer: caller for caller, answer in zip(calls["request"], calls["answer"]) if answer >= 0}
		server = lambda request: endpoints["comm"][requests["endpoint"][request]]
		ways = [(server(answers[caller]), server(caller), server(answer)) for answer, caller in answers.items() if caller in answers]
		assert ways == [("nginx", "python3", "postgres")], ways
		blamed = {(endpoints["name"][endpoint], requests["blamed_name"][i], data["parts"][requests["blamed_part"][i]]["name"])
		          for i, endpoint in enumerate(requests["endpoint"]) if requests["blamed_part"][i] >= 0}
		assert blamed == {("GET /cart/:id", "exporter (905)", "signalled")}, blamed
		waits = {(endpoints["name"][endpoint], requests["wait_name"][i], data["parts"][requests["wait_part"][i]]["name"])
		         for i, endpoint in enumerate(requests["endpoint"]) if requests["wait_part"][i] >= 0}
		lock = "PyThread_acquire_lock_timed < lock_acquire < _PyEval_EvalFrameDefault < thread_run"
		assert waits == {("GET /cart/:id", lock, "signalled"), ("SELECT items", "filemap_fault", "disk")}, waits
		assert data["called"]["peer"] == ["python3 :8000", "postgres :5432"], data["called"]
		sums = {}
		for endpoint, slow, ns in zip(*(data["budgets"][key] for key in ("endpoint", "slow", "ns"))):
		    sums[endpoint, slow] = sums.get((endpoint, slow), 0) + ns
		for (endpoint, slow), ns in sums.items():
		    kind = "slow" if slow else "typical"
		    low, high = data["endpoints"][f"{kind}_from_ns"][endpoint], data["endpoints"][f"{kind}_to_ns"][endpoint]
		    assert low * 0.99 <= ns <= high * 1.01, (endpoint, kind, low, ns, high)
		assert len(sums) >= 4, sums
		END
}
check "budgets lie within their requests' latency, calls know their answers, and waits who is to blame, and where they are" requests_are_right
part_of_requests() {
	exits 0 "$any_page" report --html "$dir/part.html" "$dir/requests.dwell@1s-" &&
		tests/page_check.py "$dir/part.html" "$dir/requests.dwell" 1 1
}
check "a part of a session has the requests of its windows" part_of_requests
few_processes() {
	exits 0 "$any_page" report --pid 801 --html "$dir/part.html" "$dir/requests.dwell" && python3 - "$dir/part.html" <<-'END'
		import sys
		sys.path.insert(0, "tests")
		import page_parts
		data = page_parts.parts(sys.argv[1])["requests"]
		with_budget = {data["endpoints"]["comm"][endpoint] for endpoint in data["budgets"]["endpoint"]}
		assert with_budget == {"nginx"}, with_budget
		calls, endpoints = data["calls"], data["endpoints"]
		answers = {endpoints["comm"][data["requests"]["endpoint"][answer]] for answer in calls["answer"] if answer >= 0}
		assert answers == {"python3", "postgres"}, answers
		END
}
check "a page of some processes has the servers that these called, without budgets" few_processes

has_baseline() {
	exits 0 "$any_page" report --html "$dir/two.html" --baseline "$dir/run.dwell" "$dir/stacks.dwell" &&
		python3 - "$dir/two.html" <<-'END'
		import sys
		sys.path.insert(0, "tests")
		import page_parts
		both = [page_parts.parts(sys.argv[1], prefix) for prefix in ("", "baseline.")]
		assert [parts["head"]["session"]["file"] for parts in both] == ["stacks.dwell", "run.dwell"]
		assert open(sys.argv[1]).read().rstrip().endswith("<p>end</p>"), "the page has no end"
		END
}
check "a baseline is a second set of parts" has_baseline
check "of a baseline that is not there, nothing is written" exits 1 "$any_page" report --html "$dir/no.html" \
	--baseline "$dir/none.dwell" "$dir/run.dwell"
check "no file is left then" test ! -e "$dir/no.html"
to_stdout() { exits 0 "$any_page" report --html - "$dir/run.dwell" && cmp "$dir/out" "$dir/run.html"; }
check "- is stdout, and the same session gives the same page" to_stdout
check "--html chooses no view" says 64 "leave out the options that choose" "$any_page" report --html x --cpus "$dir/run.dwell"
check "--baseline goes with --html" says 64 "--baseline goes with --html" "$any_page" report --baseline x "$dir/run.dwell"
check "a part without windows is said" says 1 "no window" "$any_page" report --html "$dir/no.html" "$dir/run.dwell@1000s-"
check "a folder that is not there is said" says 1 "cannot write" "$any_page" report --html "$dir/none/x.html" "$dir/run.dwell"
check "a page without a marker for data is said" says 1 "no marker for data" \
	env DWELL_TEST_PAGE=x "$any_page" report --html "$dir/no.html" "$dir/run.dwell"
check "built without the page, it says so" says 77 "built without the page" \
	env -u DWELL_TEST_PAGE "$any_page" report --html "$dir/no.html" "$dir/run.dwell"
check "and writes nothing" test ! -e "$dir/no.html"

# The page that npm built, where it did: it opens from a disk and asks nobody for anything.
built_page() {
	exits 0 "$DWELL" report --html "$dir/built.html" "$dir/hostile.dwell" || return 1
	tests/page_check.py "$dir/built.html" "$dir/hostile.dwell" || return 1
	! grep -noE '<(link|img|iframe)[^>]*(src|href)="?(https?:)?//|<script[^>]* src=' "$dir/built.html"
}
if grep -q PAGE_FILE "${BUILD:-build}/gen/page_file.inc" 2>/dev/null; then
	check "the page that npm built has the data, and loads nothing" built_page
	check "without data it is at most 1 MB" test "$(stat -c %s "$(cut -d '"' -f 2 "${BUILD:-build}/gen/page_file.inc")")" -le 1000000
else
	echo "ok - the page that npm built # SKIP this dwell is built without it"
fi

groups_by_user() {
	exits 0 "$any_page" report --group-by user --html "$dir/users.html" "$dir/server.dwell" &&
		tests/page_check.py "$dir/users.html" "$dir/server.dwell" && tests/page_parts.py "$dir/users.html" subjects >"$dir/subjects" &&
		[ "$(tests/page_parts.py "$dir/users.html" head | jq -r .session.group_by)" = user ] &&
		[ "$(jq -r '.groups.service[]' "$dir/subjects" | LC_ALL=C sort -u)" = "$("$DWELL" report --json --kernel --group-by user "$dir/server.dwell" |
			jq -r '.groups[].name' | LC_ALL=C sort -u)" ]
}
check "--group-by is what the page groups by, as in JSON" groups_by_user

shows_filter() {
	"$any_page" report --comm server --html "$dir/filtered.html" "$dir/signals.dwell" &&
		[ "$(tests/page_parts.py "$dir/filtered.html" head | jq -r .session.shown)" = "comm server" ]
}
check "a page of some processes says of which" shows_filter

finish
