#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every fuzz target is run once on each input of its corpus. `make check-long` looks for new ones.
. tests/lib.sh

for source in fuzz/*_fuzz.c; do
	name=$(basename "$source" _fuzz.c)
	inputs=(fuzz/corpus/"$name"/*) # without a corpus a file that is not there
	check "$name: ${#inputs[@]} inputs replayed" timeout 60 "${BUILD:-build}/replay/$name" "${inputs[@]}"
done
finish
