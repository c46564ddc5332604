#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Exports of real sessions: a host with disk and network, and a command with connections within this host. Each format by
# its rules, its sums those of the session by SQL; of a trace, the slices of each thread cover its life without a gap.
. tests/lib.sh
need_root

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
oracle=$(realpath "$TOOLS/workloads/oracle")

timeout 60 "$DWELL" record -a -d 3 -s block,tcp,runq --slow 1ms -o "$work/host.dwell" 2>/dev/null &
recorder=$!
timeout 20 "$oracle" tcp-reply >/dev/null
timeout 20 "$oracle" mutex >/dev/null
wait $recorder
timeout 60 "$DWELL" run -s tcp --slow 10ms -o "$work/command.dwell" -- "$oracle" tcp-reply >/dev/null 2>&1

is_right() {
	"$DWELL" export -q -f "$1" -o "$work/x" "$work/$2.dwell" && tests/session_exports.py "$1" "$work/x" "$work/$2.dwell"
}
trace_is_right() {
	"$DWELL" export -q -f perfetto -o "$work/x" ${2:+"$2"} "$work/$1.dwell" && tests/perfetto.py "$work/x" "$work/$1.dwell" ${2:+"$2"}
}
for session in host command; do
	for format in csv jsonl openmetrics otlp_profiles otlp_metrics; do
		check "$session: $format follows its rules, and has the sums of the session" is_right $format $session
	done
	check "$session: a trace has the ledger's time by state, by our reader and by protoc" trace_is_right $session
	check "$session: with the kernel's threads too" trace_is_right $session --kernel
done
# tcp-reply asks twenty times: each connection has its two ends here.
flows() { "$DWELL" export -q -f perfetto -o "$work/x" "$work/command.dwell" && tests/perfetto.py "$work/x" "$work/command.dwell" | grep -q "40 ends of flows"; }
check "a flow joins the two ends of each of 20 connections" flows
finish
