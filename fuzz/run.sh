#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh FOLDER: runs every fuzzer of the folder for FUZZ_SECONDS on its corpus, in TAP; as many at a time as there are
# CPUs. New inputs stay out of the repository; a crash is kept in the folder and named.
#
# run.sh FOLDER protocols: the parser of each protocol of requests alone, for as long each.

set -u
dir=$1
seconds=${FUZZ_SECONDS:-600}
status=0

# fuzz FUZZER [PROTOCOL]: one line, or in case of a failure a few, are printed at once: others print meanwhile.
fuzz() {
	local corpus name log
	corpus=fuzz/corpus/$(basename "$1" _fuzz)
	name=$(basename "$1" _fuzz)${2:+-$2}
	log=$dir/$name.log
	[ -z "${2:-}" ] || export FUZZ_PROTOCOL=$2
	mkdir -p "$dir/found/$name"
	if "$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
		-artifact_prefix="$dir/crash-$name-" "$dir/found/$name" "$corpus" >"$log" 2>&1; then
		echo "ok - $name: $(sed -n 's/stat::number_of_executed_units: *//p' "$log") inputs in $seconds s"
	else
		printf '%s\n' "not ok - $name: see $log" "$(tail -n 20 "$log" | sed 's/^/#   /')"
		return 1
	fi
}

running=0
# start FUZZER [PROTOCOL]
start() {
	if [ "$running" -ge "$(nproc)" ]; then
		wait -n || status=1
		running=$((running - 1))
	fi
	fuzz "$@" &
	running=$((running + 1))
}

if [ "${2:-}" = protocols ]; then
	for protocol in $(sed -n 's/^PROTOCOL(.*, \(.*\))$/\1/p' signals/requests/protocols.def); do
		start "$dir/requests_protocol_fuzz" "$protocol"
	done
else
	for fuzzer in "$dir"/*_fuzz; do
		start "$fuzzer"
	done
fi
while [ "$running" -gt 0 ]; do
	wait -n || status=1
	running=$((running - 1))
done
exit $status
