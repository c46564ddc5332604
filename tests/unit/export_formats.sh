#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Exports of a whole session: each by the rules of its format, its sums those of the session by SQL; several sessions in
# one file; sending; other tools' own readers, where they are installed.
. tests/lib.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
sessions="server signals stacks run causes"
for session in $sessions hostile; do
	make_session $session "$dir"
done
# A state of a later dwell, or of somebody who would like to add a line of their own.
python3 - "$dir/hostile.dwell" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("INSERT INTO states (id, name) VALUES (30, 'late' || char(10) || 'dwell_fake 1')")
db.execute("UPDATE ledger SET state = 30 WHERE window = 3 AND thread = 1")
db.commit()
END

# Requests, and these more: a request with three calls (one that is answered by a request of the application, one at the
# same time, to a Unix socket, one that goes on after it, with names that are none); a request whose caller is not in the file; one
# that is its own caller; one whose name and protocol are not known. HTTP in TLS, HTTP/2, gRPC, a database in TLS.
make_session requests "$dir"
cp "$dir/requests.dwell" "$dir/calls.dwell"
sqlite3 "$dir/calls.dwell" <<'END'
INSERT INTO objects (id, kind, name, pid) VALUES (9501, 5, '127.0.0.1:8000', 0), (9502, 5, '/run/cache.sock', 0),
	(9503, 5, 'listening on <b>' || char(10), 0);
INSERT INTO endpoints VALUES (90, 900, 60, 9503, 8000, 'http', 'GET /<i>' || char(27) || CAST(x'fffe3c' AS TEXT), 'request'),
	(91, 900, 60, 8000, 8000, '', '', 'request'), (92, 900, 60, 8000, 8000, 'http+tls', 'GET /safe', 'request'),
	(93, 900, 60, 8000, 8000, 'http2', 'GET /quick', 'request'), (94, 900, 60, 8000, 8000, 'http2+tls', 'POST /shop.Cart/Add', 'request');
INSERT INTO requests (id, window, endpoint, pid, start_ns, tid, connection, turn, client_port, parent, begin_ns, queue_ns,
	window_ns, weight, status, outcome, model, received_bytes, sent_bytes, cpu_ns, poll_ns, net_ns) VALUES
	(1000, 0, 1, 800, 50, 800, 61, 1, 40001, 0, 1200000000, 1000, 10000000, 1, '200', 'answered', 'loop', 400, 2000, 500000, 9500000, 0),
	(1001, 0, 4, 900, 60, 901, 62, 1, 40002, 9100, 1200499000, 2000, 3000000, 0, '503', 'answered', 'thread', 400, 2000, 1000000, 0, 2000000),
	(1002, 0, 4, 900, 60, 902, 63, 1, 40003, 9999, 1300000000, 2000, 1000000, 1, '200', 'answered', 'thread', 400, 2000, 1000000, 0, 0),
	(1003, 0, 90, 900, 60, 903, 64, 1, 40004, 9103, 1400000000, 0, 0, 1, char(10) || 'x', 'closed', 'thread', 400, 0, 0, 0, 0),
	(1004, 1, 91, 900, 60, 904, 65, 1, 0, 0, 2400000000, 7, 1000, 1, '', 'answered', 'thread', 40, 20, 1000, 0, 0),
	(1005, 1, 92, 900, 60, 904, 66, 1, 0, 0, 2410000000, 7, 1000, 1, '200', 'answered', 'thread', 40, 20, 1000, 0, 0),
	(1006, 1, 92, 900, 60, 904, 66, 2, 0, 0, 2411000000, 7, 1000, 1, '503', 'answered', 'thread', 40, 20, 1000, 0, 0),
	(1007, 1, 93, 900, 60, 904, 67, 1, 0, 0, 2412000000, 7, 1000, 1, '200', 'answered', 'thread', 40, 20, 1000, 0, 0),
	(1008, 1, 93, 900, 60, 904, 67, 2, 0, 0, 2413000000, 7, 1000, 1, '404', 'answered', 'thread', 40, 20, 1000, 0, 0),
	(1009, 1, 94, 900, 60, 904, 68, 1, 0, 0, 2414000000, 7, 1000, 1, 'grpc 0', 'answered', 'thread', 40, 20, 1000, 0, 0),
	(1010, 1, 94, 900, 60, 904, 68, 2, 0, 0, 2415000000, 7, 1000, 1, 'grpc 13', 'answered', 'thread', 40, 20, 1000, 0, 0),
	(1011, 1, 94, 900, 60, 904, 68, 3, 0, 0, 2416000000, 7, 1000, 1, '', 'answered', 'thread', 40, 20, 1000, 0, 0);
INSERT INTO request_calls (id, window, request, grade, pid, start_ns, tid, object, port, client_port, protocol, name, status,
	outcome, begin_ns, wait_ns, window_ns, sent_bytes, received_bytes) VALUES
	(9100, 0, 1000, 'confirmed', 800, 50, 800, 9501, 8000, 40002, 'http', 'GET /cart/:id', '503', 'answered', 1200500000, 3900000, 4000000, 400, 2000),
	(9101, 0, 1000, 'backward', 800, 50, 800, 9502, 0, 0, 'redis', 'GET', 'OK', 'answered', 1202000000, 4000000, 5000000, 40, 200),
	(9102, 0, 1000, 'forward', 800, 50, 800, 9501, 8000, 40005, 'postgresql', 'SELECT <b>' || char(7), '42P01', 'answered', 1208000000, 1000, 5000000, 40, 200),
	(9103, 0, 1003, 'confirmed', 900, 60, 903, 9503, 8000, 40004, '', '', '', 'reset', 1400000000, 0, 100, 40, 0),
	(9104, 0, 1001, 'confirmed', 900, 60, 901, 5432, 5432, 40006, 'postgresql', 'SELECT items', 'OK', 'answered', 1201000000, 900000, 1000000, 40, 200),
	(9105, 0, 1001, 'confirmed', 900, 60, 901, 5432, 5432, 40007, 'postgresql+tls', 'SELECT safes', 'OK', 'answered', 1202100000, 90000, 100000, 40, 200),
	(9106, 0, 1001, 'confirmed', 900, 60, 901, 5432, 5432, 40007, 'postgresql+tls', 'SELECT nulls', '42P01', 'answered', 1202300000, 90000, 100000, 40, 200);
END

# exits STATUS COMMAND...
exits() {
	local expected=$1 status
	shift
	"$@" >"$dir/out" 2>"$dir/err"
	status=$?
	[ "$status" -eq "$expected" ] || { echo "exit $status: $(cat "$dir/out" "$dir/err")"; return 1; }
}
says() { exits "$1" "${@:3}" && grep -qF -- "$2" "$dir/out" "$dir/err"; }

is_right() {
	exits 0 "$DWELL" export -f "$1" -o "$dir/x.$1" "$dir/$2.dwell" &&
		tests/session_exports.py "$1" "$dir/x.$1" "$dir/$2.dwell"
}
for session in $sessions hostile calls; do
	for format in csv jsonl openmetrics otlp_profiles otlp_metrics otlp_traces; do
		check "$format follows its rules, and has the sums of the session: $session" is_right $format $session
	done
done

# trace_is_right SESSION "OPTIONS OF DWELL" OPTIONS OF THE CHECK...
trace_is_right() {
	# shellcheck disable=SC2086 # they are several
	exits 0 "$DWELL" export -f perfetto -o "$dir/x.pftrace" $2 && tests/perfetto.py "$dir/x.pftrace" "$dir/$1.dwell" "${@:3}"
}
spans_are_public() {
	exits 0 "$DWELL" export -f otlp_traces -o "$dir/x" "$dir/calls.dwell" &&
		protoc --decode=opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest -Itests tests/otlp_official.proto \
			<"$dir/x" >"$dir/out" && ! grep -E '^ *[0-9]+(:| \{)' "$dir/out" &&
		test "$(grep -c 'kind: SPAN_KIND_SERVER' "$dir/out")" = 88 && test "$(grep -c 'kind: SPAN_KIND_CLIENT' "$dir/out")" = 52
}
# The trace that the application named is that of all spans of the request, and of what it called.
traces_are_own() {
	local ours=4bf92f3577b34da6a3ce929d0e0e4736
	cp "$dir/calls.dwell" "$dir/own.dwell"
	sqlite3 "$dir/own.dwell" "UPDATE requests SET trace_id = CASE id WHEN 1000 THEN '$ours' WHEN 1002 THEN 'no trace' ELSE '' END"
	exits 0 "$DWELL" export -f otlp_traces -o "$dir/x" "$dir/own.dwell" &&
		test "$(python3 -c 'import sys; print(open(sys.argv[1], "rb").read().count(bytes.fromhex(sys.argv[2])))' "$dir/x" $ours)" = 8
}
check "spans have the trace that the application has named" traces_are_own
if command -v protoc >/dev/null; then
	for session in $sessions; do
		check "a trace has the ledger's time by state, by our reader and by protoc: $session" trace_is_right $session "$dir/$session.dwell"
	done
	check "requests with their parts, calls inside of them or beside them, flows" trace_is_right calls "$dir/calls.dwell"
	check "by protoc, spans have the public fields alone" spans_are_public
	# Of before there were calls.
	cp "$dir/requests.dwell" "$dir/old.dwell"
	sqlite3 "$dir/old.dwell" "DROP TABLE request_calls; DROP TABLE request_links; DELETE FROM requests WHERE weight = 0;
		ALTER TABLE requests DROP COLUMN turn; ALTER TABLE requests DROP COLUMN client_port;
		ALTER TABLE requests DROP COLUMN parent; ALTER TABLE requests DROP COLUMN pool_queue_ns; PRAGMA user_version = 1008"
	old_is_read() {
		exits 0 "$DWELL" export -f otlp_traces -o "$dir/x" "$dir/old.dwell" &&
			protoc --decode=opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest -Itests tests/otlp_official.proto \
				<"$dir/x" >"$dir/out" && test "$(grep -c 'kind: SPAN_KIND_SERVER' "$dir/out")" = 74 &&
			test "$(grep -c 'kind: SPAN_KIND_CLIENT' "$dir/out")" = 0 && exits 0 "$DWELL" export -f perfetto -o "$dir/x" "$dir/old.dwell"
	}
	check "a session of schema 1.8 has its requests" old_is_read
	check "of a part of a session too" trace_is_right calls "$dir/calls.dwell@1s-2s" --windows 1 1
	check "kernel threads too" trace_is_right server "--kernel $dir/server.dwell" --kernel
	check "a part of a session" trace_is_right server "$dir/server.dwell@1s-2s" --windows 1 1
else
	skip "traces are right" "protoc is not installed"
fi

# Several sessions in one file.
zip_is_right() {
	exits 0 "$DWELL" export -f perfetto -o "$dir/all.zip" "$dir/stacks.dwell" "$dir/run.dwell" &&
		"$DWELL" export -f perfetto "$dir/stacks.dwell" >"$dir/1" && "$DWELL" export -f perfetto "$dir/run.dwell" >"$dir/2" &&
		python3 - "$dir" <<-'END'
			import json, sys, zipfile
			archive = zipfile.ZipFile(sys.argv[1] + "/all.zip")
			assert archive.testzip() is None
			manifest = json.loads(archive.read("perfetto_manifest.json"))["perfetto_manifest"]
			assert manifest["version"] == 1, manifest
			assert [f["path"] for f in manifest["files"]] == ["1-stacks.dwell.pftrace", "2-run.dwell.pftrace"], manifest
			assert all(f["machine"]["name"] for f in manifest["files"]), manifest
			for number, file in enumerate(manifest["files"], 1):
			    assert archive.read(file["path"]) == open(f"{sys.argv[1]}/{number}", "rb").read(), file
		END
}
check "several sessions are one ZIP with a manifest, and each the trace that it is alone" zip_is_right
part_is_right() {
	exits 0 "$DWELL" export -f perfetto -o "$dir/part.zip" "$dir/server.dwell@1s-2s" "$dir/run.dwell" &&
		"$DWELL" export -f perfetto -o "$dir/1" "$dir/server.dwell@1s-2s" &&
		python3 -c 'import sys, zipfile; assert zipfile.ZipFile(sys.argv[1]).read("1-server.dwell.pftrace") == open(sys.argv[2], "rb").read()' \
			"$dir/part.zip" "$dir/1"
}
check "each with its own part" part_is_right
check "it needs a name" says 64 "name it with -o" "$DWELL" export -f perfetto "$dir/stacks.dwell" "$dir/run.dwell"
check "it needs a regular file" says 1 "regular file" "$DWELL" export -f perfetto -o /dev/null "$dir/stacks.dwell" "$dir/run.dwell"
check "other formats take one session" says 64 "takes one session" "$DWELL" export -f csv -o "$dir/x" "$dir/stacks.dwell" "$dir/run.dwell"
echo "no session" >"$dir/text"
cp "$dir/all.zip" "$dir/before"
check "one of them that is no session is a failure" exits 1 "$DWELL" export -f perfetto -o "$dir/all.zip" "$dir/run.dwell" "$dir/text"
check "and the old file stays" cmp "$dir/all.zip" "$dir/before"

# Sending.
mkdir "$dir/got"
sent() {
	exits 0 tests/otlp_receiver.py "$dir/got" 200 "$DWELL" export -f otlp --to URL/prefix "$dir/stacks.dwell" &&
		grep -qx '/prefix/v1development/profiles application/x-protobuf gzip' "$dir/out" &&
		grep -qx '/prefix/v1/metrics application/x-protobuf gzip' "$dir/out" &&
		tests/session_exports.py otlp_profiles "$dir/got/profiles" "$dir/stacks.dwell" &&
		tests/session_exports.py otlp_metrics "$dir/got/metrics" "$dir/stacks.dwell"
}
check "otlp is sent: profiles and metrics, each to its path" sent
traces_sent() {
	exits 0 tests/otlp_receiver.py "$dir/got" 200 "$DWELL" export -f otlp_traces --to URL "$dir/calls.dwell" &&
		grep -qx '/v1/traces application/x-protobuf gzip' "$dir/out" && tests/session_exports.py otlp_traces "$dir/got/traces" "$dir/calls.dwell"
}
check "so are traces" traces_sent
check "of a session without requests there is nothing to send" says 0 "otlp_traces: not sent, as the session has nothing for it" \
	"$DWELL" export -f otlp_traces --to http://127.0.0.1:1 "$dir/stacks.dwell"
check "a refusal is told" says 1 "it answered 'HTTP/1.0 404 Not Found'" tests/otlp_receiver.py "$dir/got" 404 "$DWELL" export -f otlp --to URL "$dir/stacks.dwell"
check "what it rejects is told, in its words" says 1 "rejected 3 items of otlp_profiles: 'too many'" \
	tests/otlp_receiver.py "$dir/got" 200:0a0c08031208746f6f206d616e79 "$DWELL" export -f otlp --to URL "$dir/stacks.dwell"
check "a warning is no failure" says 0 "the receiver says: old" tests/otlp_receiver.py "$dir/got" 200:0a0512036f6c64 "$DWELL" export -f otlp --to URL "$dir/stacks.dwell"
check "no answer is told" says 1 "closed without an answer" tests/otlp_receiver.py "$dir/got" 0 "$DWELL" export -f otlp --to URL "$dir/stacks.dwell"
check "nobody there is told" says 1 "Connection refused" "$DWELL" export -f otlp --to http://127.0.0.1:1 "$dir/stacks.dwell"
check "TLS is left to a collector" says 64 "TLS is left to a collector" "$DWELL" export -f otlp --to https://127.0.0.1 "$dir/stacks.dwell"
check "an address with a space is none" says 64 "no such address" "$DWELL" export -f otlp --to "http://a b" "$dir/stacks.dwell"
check "a port that is none is told" says 64 "a port that is none" "$DWELL" export -f otlp --to http://[::1]:99999 "$dir/stacks.dwell"
check "other formats are not sent" says 64 "no format that is sent" "$DWELL" export -f svg --to http://127.0.0.1:1 "$dir/stacks.dwell"
check "otlp is two files" says 64 "otlp_profiles, -f otlp_metrics and -f otlp_traces" "$DWELL" export -f otlp -o "$dir/x" "$dir/stacks.dwell"
check "sent or written, not both" says 64 "either sent" "$DWELL" export -f otlp --to http://127.0.0.1:1 -o "$dir/x" "$dir/stacks.dwell"

# Prometheus itself. promtool reads the older text format, in which the lines about a counter have its whole name.
exits 0 "$DWELL" export -f openmetrics -o "$dir/m" "$dir/signals.dwell"
lints() { sed -E 's/^# (HELP|TYPE|UNIT) (dwell_ledger_seconds|dwell_lost_records) /# \1 \2_total /' "$dir/m" | promtool check metrics; }
if command -v promtool >/dev/null; then
	check "promtool finds nothing wrong with the metrics" lints
else
	skip "promtool finds nothing wrong with the metrics" "it is not installed"
fi
scraped() { test "$(tests/scrape.py "$dir/m")" = 4000000000; }
if command -v prometheus >/dev/null; then
	check "Prometheus scrapes them, and has the ledger's sum" scraped
else
	skip "Prometheus scrapes them" "it is not installed"
fi
finish
