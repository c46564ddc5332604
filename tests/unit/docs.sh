#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The pages say what is so: states, options, tables.
. tests/lib.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# same A B: the two files are
same() { diff -u "$1" "$2"; }

has_every_state() {
	local missing
	missing=$(sed -n 's/^STATE([A-Z_]*, "\([^"]*\)".*/\1/p' abi/states.def |
		while read -r state; do grep -qF "**$state**" docs/dwell-run.1.md || echo "$state"; done)
	[ -z "$missing" ] || { echo "missing: $missing"; return 1; }
}
check "dwell-run.1 has every state" has_every_state

sed -n 's/^STOP([A-Z_]*, "\([^"]*\)", \([01]\), "\(.*\)")$/| `\1` | \2 | \3 |/p' abi/stops.def |
	sed 's/ | 1 | / | yes | /; s/ | 0 | / | no | /' >"$work/stops"
sed -n '/^| stop |/,/^$/p' docs/stacks.md | grep '^| `' >"$work/page"
check "stacks.md has every stop" same "$work/stops" "$work/page"

# Long options: in --help at the beginning of a line, in the page as a term
options_of_help() { "$DWELL" "$1" --help | grep -oE '^  (-[a-zA-Z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | LC_ALL=C sort -u; }
options_of_page() {
	sed -n '/^# OPTIONS/,/^# [^O]/p' "docs/dwell-$1.1.md" | grep -E '^\*\*-' | grep -oE -- '--[a-z-]+' | LC_ALL=C sort -u
}
for command in run record trace report export doctor; do
	options_of_help $command | grep -vx -- --help >"$work/help"
	options_of_page $command | grep -vx -- --help >"$work/page"
	check "dwell-$command.1 has the options of --help" same "$work/help" "$work/page"
done

# "name cost" of each signal that -s offers; the page may have more
"$DWELL" record -s help | awk '/^  [a-z]/ { name = $1; print name, $2 ($2 == "per" ? " " $3 : "") }' | LC_ALL=C sort >"$work/help"
awk -F' *\\| *' '/^## / { exit } /^\| `/ { gsub("`", "", $2); print $2, $4 }' docs/signals.md | LC_ALL=C sort >"$work/page"
check "signals.md has every signal, and its cost" sh -c "test -z \"\$(comm -23 '$work/help' '$work/page')\""

python3 - >"$work/made-up" <<'END'
import sqlite3
db = sqlite3.connect(":memory:")
db.executescript(open("tests/sessions/schema.sql").read())
names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
for name in sorted(names):
    print(name, *(row[1] for row in db.execute(f"PRAGMA table_info({name})")))
END
documented_tables >"$work/documented"
check "made-up sessions have the tables of docs/session.md" same "$work/documented" "$work/made-up"
finish
