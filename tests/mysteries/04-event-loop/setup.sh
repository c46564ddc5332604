# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # names are shared between run.sh, lib.sh and setup.sh
setup() {
	# With a map of its compiled functions, as for any profiler
	spawn node node --perf-basic-prof --no-logfile-per-isolate --logfile="$work/v8.log" tests/mysteries/04-event-loop/server.js 28040
	defer rm -f "/tmp/perf-$spawned.map"
	until_listening 28040 || return
	spawn catalog "$programs/load" 28040 1 300 /catalog
	spawn health "$programs/load" 28040 6 5 /health
	sleep 1
}
