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

# Options, long and short: in --help at the beginning of a line, in the page as a term
options() { grep -oE -- '(^|[ *])--?[a-zA-Z][a-z-]*' | tr -d ' *' | grep -vxE -- '-h|--help' | LC_ALL=C sort -u; }
options_of_help() { "$DWELL" "$1" --help | grep -oE '^  -[a-zA-Z-][a-z-]*(, --[a-z-]+)?' | options; }
options_of_page() { sed -n '/^# OPTIONS/,/^# [^O]/p' "docs/dwell-$1.1.md" | grep -E '^\*\*-' | options; }

# Those that getopt_long() takes: of the command's own table, and of those that commands share
options_of_code() {
	local own shared longs
	own=$(grep -l 'struct option longs\[\]' src/cmd/"$1".c src/cmd/"$1"_options.c 2>/dev/null)
	{
		cat "$own"
		for shared in cmd/measure cmd/session_options cmd/given engine/selection; do
			longs=$(grep -oE '[A-Z_]+_LONGS' "src/$shared.h" | head -n 1)
			! grep -q "$longs" "$own" || cat "src/$shared.h"
		done
		# A row of process_keys.h is an option of those commands.
		! grep -qE 'SESSION_OPTIONS_LONGS|SESSION_OPTION_OF_KEY' "$own" ||
			sed -n 's/.*KEY([A-Z]*, \("[a-z]*"\), .*/\1, required_argument/p' src/store/process_keys.h
	} | grep -oE '"[a-z-]+", (no|required|optional)_argument' | sed 's/"\(.*\)".*/--\1/' | options
}

# has_all FILE TEXT: each line of FILE, an option, is somewhere in TEXT
has_all() {
	local option bad=0
	while read -r option; do
		grep -qE -- "(^|[^a-z-])$option([^a-z-]|\$)" "$2" || { echo "missing: $option"; bad=1; }
	done <"$1"
	return $bad
}

for command in $(sed -n 's/^COMMAND(\([a-z]*\),.*/\1/p' src/cmd/commands.def); do
	options_of_help $command >"$work/help"
	options_of_page $command >"$work/page"
	options_of_code $command >"$work/code"
	"$DWELL" $command --help >"$work/text"
	grep -- '^--' "$work/help" >"$work/long"
	check "dwell-$command.1 has the options of --help" same "$work/help" "$work/page"
	check "dwell $command --help has every option that there is" has_all "$work/code" "$work/text"
	check "dwell $command --help has no other" sh -c "test -s '$work/long' && test -z \"\$(comm -23 '$work/long' '$work/code')\""
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

# Views and tables as they are declared, against the page: "name | one row per | columns"
make_session server "$work"
"$DWELL" query --list --json "$work/server.dwell" >"$work/list"
jq -r '.[] | select(.type == "view") | "| `\(.name)` | \(.about) | \(.columns | map("`\(.)`") | join(", ")) |"' "$work/list" >"$work/declared"
sed -n '/^## Views/,/^## What/p' docs/session.md | grep '^| `' >"$work/page"
check "docs/session.md has the views as they are declared, in this order" same "$work/declared" "$work/page"
jq -r '.[] | select(.type == "table") | "\(.name): \(.about)"' "$work/list" | LC_ALL=C sort >"$work/declared"
awk -F' \\| ' '/^## Tables/ { on = 1 } /^## Views/ { on = 0 } on && /^\| `/ {
	gsub(/[`|]/, "", $1); gsub(/`/, "", $2)
	for (i = split($1, table, /, */); i > 0; i--) { gsub(/ /, "", table[i]); print table[i] ": " $2 }
}' docs/session.md | LC_ALL=C sort >"$work/page"
check "and what one row of each table is" same "$work/declared" "$work/page"
finish
