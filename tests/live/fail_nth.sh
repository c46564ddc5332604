#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# One call fails, each time another one: dwell reports it and leaves nothing behind. tests/fail_nth/run.py has the
# rules. FAIL_SAMPLE says how many cases are taken (default 120, in about 100 s; 0: all, in an hour or more).

set -u
. tests/lib.sh
need_root
exec python3 tests/fail_nth/run.py "${BUILD:-build}" --sample "${FAIL_SAMPLE:-120}"
