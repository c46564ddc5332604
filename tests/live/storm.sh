#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A million events each while nobody, the worker or all of dwell is stopped.
. tests/lib.sh
need_root

for mode in none worker resume all; do
	"$TOOLS/storm" 1000000 "$mode" || failures=$((failures + 1))
done
finish
