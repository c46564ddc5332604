#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# One call fails, each time another one: dwell reports it and leaves nothing behind. tests/fail_nth/run.py has the
# rules. FAIL_SAMPLE says how many cases are taken of commands that measure, and of those that read a session (default
# 80, in about 70 s; 0: all, in 20 minutes or more).

set -u
. tests/lib.sh
need_root

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
run() { python3 tests/fail_nth/run.py "${BUILD:-build}" --sample "${FAIL_SAMPLE:-80}" "$@" || status=1; }

run
# Commands that read a session, on one of many signals, beside a program whose calls fail.
timeout 5 sh -c 'while :; do find /usr/share/doc -name "x*"; cat /proc/none; done' >/dev/null 2>&1 &
timeout 60 "$DWELL" record -a --tier B -s runq,block,tcp,locks,files -d 3 -o "$work/all.dwell" 2>"$work/err" || cat "$work/err"
run --session "$work/all.dwell"
exit $status
