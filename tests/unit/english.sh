#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Text for users uses the field's terms: no word that the glossary replaces, in help, docs and strings.
. tests/lib.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for command in "" $(sed -n 's/^COMMAND(\([a-z]*\),.*/\1/p' src/cmd/commands.def); do
	# shellcheck disable=SC2086 # none, or one word
	"$DWELL" $command --help >"$work/help-${command:-dwell}.txt"
done
"$DWELL" record -s help >"$work/help-signals.txt"

check "help uses the field's terms" python3 tests/english.py "$work"/help-*.txt
check "README, NEWS and docs use them" python3 tests/english.py README.md NEWS.md docs/*.md
check "strings of commands, report, doctor and signals use them" \
	python3 tests/english.py src/main.c src/cmd/*.[ch] src/cmd/*.def src/report/*.[ch] src/diff/*.[ch] src/doctor/*.[ch] src/export/*.[ch] \
	src/export/*.def src/page/*.[ch] src/config/*.[ch] src/top/*.[ch] signals/*/*.c signals/*/kinds.h records/*/*.c abi/*.def
check "messages of the other parts use them" \
	python3 tests/english.py src/base/*.c src/capture/*.c src/engine/*.[ch] src/model/*.c src/store/*.c src/store/*.def src/symbolize/*.c src/worker/*.c

# The check itself sees each of them
cat >"$work/bad.md" <<'END'
No word of it came.
A key that has no place; there was no room.
It is told, said or spoken.
That is dear, and has a price.
How to mend it.
The brake.
The record is gone. It was given up.
The walk of the stack; the walker.
A foreign process; the followed one.
A late probe.
A process apart.
Processes, with commas.
A start waits so long; so many are kept.
Beginning and end of a call.
The frame has no name.
A plain file.
END
python3 tests/english.py "$work/bad.md" >"$work/found"
check "each line of the bad page is found" sh -c "test \$(cut -d: -f2 '$work/found' | sort -u | wc -l) = \$(wc -l <'$work/bad.md')"
printf 'const char *a = "in two "\n\t"places";\nx = places; /* a place */\n' >"$work/bad.c"
check "a string of two pieces is found, code and comments are not" \
	sh -c "python3 tests/english.py '$work/bad.c' >'$work/found'; test \$(wc -l <'$work/found') = 1"
finish
