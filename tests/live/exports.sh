#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Exports of real sessions: a host with disk and network, a command with connections within this host, and two servers. Each format by
# its rules, its sums those of the session by SQL; of a trace, the slices of each thread cover its life without a gap.
. tests/lib.sh
need_root

work=$(mktemp -d)
servers=()
end() {
	[ ${#servers[@]} -eq 0 ] || kill "${servers[@]}" 2>/dev/null
	rm -rf "$work"
}
trap end EXIT
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
# A server that asks another one, and a client that asks it forty times.
port=$((20000 + $$ % 9000))
sessions="host command"
if command -v nginx >/dev/null; then
sessions="$sessions servers"
mkdir "$work/files"
echo cart >"$work/files/cart"
cat >"$work/nginx.conf" <<-END
	worker_processes 1; master_process off; daemon off; pid $work/nginx.pid; error_log $work/nginx.log; user root;
	events { worker_connections 64; }
	http { access_log off; server { listen 127.0.0.1:$port; location / { proxy_pass http://127.0.0.1:$((port + 1)); } } }
END
nginx -c "$work/nginx.conf" >/dev/null 2>&1 &
servers+=($!)
python3 -m http.server -b 127.0.0.1 -d "$work/files" $((port + 1)) >/dev/null 2>&1 &
servers+=($!)
for _ in $(seq 100); do
	(: </dev/tcp/127.0.0.1/"$port" && : </dev/tcp/127.0.0.1/$((port + 1))) 2>/dev/null && break
	sleep 0.1
done
timeout 60 "$DWELL" record -q -p "${servers[0]},${servers[1]}" -s requests --no-stacks --max-overhead 100% -d 20 \
	-o "$work/servers.dwell" >/dev/null 2>&1 &
recorder=$!
until_begun "$work/servers.dwell"
python3 - "$port" <<-'END'
	import http.client, sys, time
	client = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
	for i in range(40):
	    client.request("GET", "/missing" if i % 4 == 0 else "/cart")
	    client.getresponse().read()
	    time.sleep(0.02)
	time.sleep(1.5)
END
kill -INT $recorder
wait $recorder
fi

for session in $sessions; do
	for format in csv jsonl openmetrics otlp_profiles otlp_metrics otlp_traces; do
		check "$session: $format follows its rules, and has the sums of the session" is_right $format $session
	done
	check "$session: a trace has the ledger's time by state, by our reader and by protoc" trace_is_right $session
	check "$session: with the kernel's threads too" trace_is_right $session --kernel
done
# spans_are_linked: of nginx's kept requests each has its call, and that the request that answers it; one in four is an error
spans_are_linked() {
	"$DWELL" export -q -f otlp_traces -o "$work/x" "$work/servers.dwell" &&
		python3 - "$work/x" "$port" <<-'END'
			import collections, sys
			sys.path.insert(0, "tests")
			from protobuf import fields
			spans = {}
			for part in map(fields, fields(open(sys.argv[1], "rb").read())[1]):
			    for span in map(fields, fields(part[2][0])[2]):
			        notes = {}
			        for pair in map(fields, span[9]):
			            value = fields(pair[2][0])
			            notes[pair[1][0].decode()] = value[1][0].decode() if value[1] else value[3][0]
			        spans[span[2][0]] = span, notes
			front = {i: s for i, s in spans.items() if s[0][6] == [2] and s[1].get("server.port") == int(sys.argv[2])}
			calls = {i: s for i, s in spans.items() if s[0][6] == [3] and s[0][4][0] in front}
			back = [s for s in spans.values() if s[0][6] == [2] and s[0][4] and s[0][4][0] in calls]
			errors = sum(bool(s[0][15]) for s in front.values())
			grades = collections.Counter(s[1]["dwell.link"] for s in calls.values())
			print(f"# {len(front)} requests, {len(calls)} calls {dict(grades)}, {len(back)} answered here, {errors} errors")
			assert 20 <= len(front) <= 40 and len(calls) == len(back) == len(front) and 5 <= errors <= 10
			assert all(s[0][1] == spans[s[0][4][0]][0][1] for s in list(calls.values()) + back)
		END
}
if [ -e "$work/servers.dwell" ]; then
	check "servers: spans of requests, calls and who answers them are linked" spans_are_linked
else
	skip "servers: spans are linked" "nginx is not installed"
fi
# tcp-reply asks twenty times: each connection has its two ends here.
flows() { "$DWELL" export -q -f perfetto -o "$work/x" "$work/command.dwell" && tests/perfetto.py "$work/x" "$work/command.dwell" | grep -q "40 ends of flows"; }
check "a flow joins the two ends of each of 20 connections" flows
finish
