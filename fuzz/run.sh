#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh FOLDER: runs every fuzzer of the folder for FUZZ_SECONDS on its corpus, in TAP; as many at a time as there are
# CPUs. New inputs stay out of the repository; a crash is kept in the folder and named.

set -u
dir=$1
seconds=${FUZZ_SECONDS:-600}
status=0

# One line, or in case of a failure a few, are printed at once: others print meanwhile.
fuzz() {
	local name log
	name=$(basename "$1" _fuzz)
	log=$dir/$name.log
	mkdir -p "$dir/found/$name"
	if "$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
		-artifact_prefix="$dir/crash-$name-" "$dir/found/$name" "fuzz/corpus/$name" >"$log" 2>&1; then
		echo "ok - $name: $(sed -n 's/stat::number_of_executed_units: *//p' "$log") inputs in $seconds s"
	else
		printf '%s\n' "not ok - $name: see $log" "$(tail -n 20 "$log" | sed 's/^/#   /')"
		return 1
	fi
}

running=0
for fuzzer in "$dir"/*_fuzz; do
	if [ "$running" -ge "$(nproc)" ]; then
		wait -n || status=1
		running=$((running - 1))
	fi
	fuzz "$fuzzer" &
	running=$((running + 1))
done
while [ "$running" -gt 0 ]; do
	wait -n || status=1
	running=$((running - 1))
done
exit $status
