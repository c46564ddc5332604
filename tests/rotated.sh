# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# For test scripts, which source it after lib.sh: what holds for each file of a rotated recording (--rotate), and
# between it and the one before.

sql() { sqlite3 "$1" "$2"; }
is() { [ "$(sql "$1" "$2")" = "$3" ] || { echo "$2 gives $(sql "$1" "$2"), not $3"; return 1; }; }

unclosed="SELECT count(*) FROM (SELECT max(t.end_ns, ifnull(max(l.end_ns), 0)) - t.begin_ns AS wall,
		total(l.ns) AS parts
	FROM threads t LEFT JOIN ledger l ON l.thread = t.id GROUP BY t.id HAVING wall <> parts)"
no_stack="SELECT (SELECT count(*) FROM samples WHERE stack AND stack NOT IN (SELECT id FROM stacks)) +
	(SELECT count(*) FROM stacks WHERE parent AND parent NOT IN (SELECT id FROM stacks)) +
	(SELECT count(*) FROM stacks WHERE frame NOT IN (SELECT id FROM frames)) +
	(SELECT count(*) FROM frames WHERE module NOT IN (SELECT id FROM modules))"
# A lock's object is its address, and so is what a futex waits for under another name: they have no name.
no_object="SELECT count(DISTINCT object) FROM ledger WHERE object AND object NOT IN (SELECT id FROM objects)
	AND state NOT IN (SELECT id FROM states WHERE name LIKE '%lock')
	AND call NOT IN (SELECT call FROM syscalls WHERE name LIKE 'futex%')"

# each_property JUDGE FILE [BEFORE]: calls JUDGE FILE TEXT QUERY RESULT for each: the query should give the result
each_property() {
	local judge=$1 file=$2 before=${3:-}
	"$judge" "$file" "it is sound, and complete" \
		"SELECT (SELECT integrity_check FROM pragma_integrity_check) || count(*) FROM meta WHERE key = 'ended_ns'" ok1
	"$judge" "$file" "parts - wall = 0 ns on each thread" "$unclosed" 0
	"$judge" "$file" "all stacks of its samples are in it, to the last frame" "$no_stack" 0
	"$judge" "$file" "all objects are named" "$no_object" 0
	"$judge" "$file" "its windows follow each other, and fill it" \
		"SELECT (SELECT count(*) FROM windows a JOIN windows b ON b.id = a.id + 1 WHERE a.end_ns <> b.begin_ns),
			(SELECT min(begin_ns) FROM windows) - (SELECT value FROM meta WHERE key = 'started_ns'),
			(SELECT max(end_ns) FROM windows) - (SELECT value FROM meta WHERE key = 'ended_ns')" '0|0|0'
	# At a random moment of each half second: a shorter file may have none
	"$judge" "$file" "its cost was measured" \
		"SELECT (max(bpf_ns) > 0 AND min(user_cpu_ns) > 0) OR
			(SELECT sum(end_ns - begin_ns) FROM windows) < 600000000 FROM overhead" 1
	[ -n "$before" ] || return 0
	"$judge" "$file" "it follows $(basename "$before") without a gap" \
		"ATTACH '$before' AS b; SELECT (SELECT max(end_ns) FROM b.windows) - (SELECT min(begin_ns) FROM windows),
			(SELECT max(id) FROM b.windows) - (SELECT min(id) FROM windows)" '0|-1'
	"$judge" "$file" "threads begin where they ended there" \
		"ATTACH '$before' AS b; SELECT count(*) FROM threads t JOIN b.threads o USING (id)
			WHERE t.begin_ns <> max(o.end_ns, ifnull((SELECT max(end_ns) FROM b.ledger WHERE thread = o.id), 0))
			AND t.begin_ns" 0
}

# check_files FILE...: each is complete, and each begins where the one before ends, with every thread
check_property() { check "$(basename "$1"): $2" is "$1" "$3" "$4"; }
check_files() {
	local file before=
	for file; do
		each_property check_property "$file" "$before"
		before=$file
	done
}
