#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Commands that read a session, with one call that fails, each time another one: a sentence and status 1, or all
# of the output. The same for commands that measure is tests/live/fail_nth.sh.
. tests/lib.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
make_session stacks "$dir"
make_session requests "$dir"
status=0
python3 tests/fail_nth/run.py "${BUILD:-build}" --session "$dir/stacks.dwell" --sample "${FAIL_SAMPLE:-300}" || status=1
python3 tests/fail_nth/run.py "${BUILD:-build}" --session "$dir/requests.dwell" --command requests --sample 60 || status=1
python3 tests/fail_nth/run.py "${BUILD:-build}" --session "$dir/requests.dwell" --command otlp_traces --sample 40 || status=1
exit $status
