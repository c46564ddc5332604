#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A signal is one folder and one row: what carries out a measurement names no signal. Its id, its struct, its
# programs and its maps are read from its declaration. Shown to fail in a copy.
. tests/lib.sh

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
folders="src/model src/capture src/engine src/worker src/store"

# named DIR: the lines of its sources that name a signal of signals/, or a program or map of one
named() {
	local row name
	while IFS=, read -r _ row name _; do
		row=${row// /} name=${name// /}
		[ -d "$1/signals/$name" ] && printf '\\bSIG_%s\\b\n\\bsignal_%s\\b\n"%s_[a-z_]*"\n' "$row" "$name" "$name"
	done < <(grep '^SIGNAL(' "$1/abi/signals.def") >"$copy/patterns"
	(cd "$1" && grep -rnEf "$copy/patterns" $folders --include='*.c' --include='*.h') |
		grep -vE "$allowed" | grep -vE ':\s*(/\*|\*)'
}
# Names of a session's facts; and the accounts, which each signal may look up.
allowed='\<add(_number|_fact)?\((metadata|context|facts), "|#define PROBE_(TASKS|ACCOUNTS)'
names_none() { [ -z "$(named "$1")" ]; }

check "what carries out a measurement names no signal" names_none .
with() {
	rm -rf "$copy/tree" && mkdir "$copy/tree" && cp -r abi signals src "$copy/tree"
	echo "$2" >>"$copy/tree/$1"
	! names_none "$copy/tree"
}
check "an id of a signal is found" with src/engine/engine.c 'int id = SIG_ALLOC;'
check "a signal's struct is found" with src/engine/throttle.c 'const void *p = &signal_calls;'
check "a program's name is found" with src/engine/probes.c 'const char *program = "calls_turn";'
check "a map's name is found" with src/capture/object.c 'const char *map = "ledger_tasks";'
finish
