#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh FOLDER: runs every fuzzer of the folder for FUZZ_SECONDS on its corpus, in TAP.
# New inputs stay out of the repository; a crash is kept in the folder and named.

set -u
dir=$1
seconds=${FUZZ_SECONDS:-600}
status=0
for fuzzer in "$dir"/*_fuzz; do
	name=$(basename "$fuzzer" _fuzz)
	mkdir -p "$dir/found/$name"
	if "$fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
		-artifact_prefix="$dir/crash-$name-" "$dir/found/$name" "fuzz/corpus/$name" \
		>"$dir/$name.log" 2>&1; then
		echo "ok - $name: $(sed -n 's/stat::number_of_executed_units: *//p' "$dir/$name.log") inputs in $seconds s"
	else
		echo "not ok - $name: see $dir/$name.log"
		tail -n 20 "$dir/$name.log" | sed 's/^/#   /'
		status=1
	fi
done
exit $status
