#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Capture on the running kernel: load_test, and the SIGSTOP storms of a million events each.
. tests/lib.sh
need_root

"$TOOLS/load_test" || failures=$((failures + 1))
for mode in none worker resume all; do
	"$TOOLS/storm" 1000000 "$mode" || failures=$((failures + 1))
done
finish
