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
for session in $sessions hostile; do
	for format in csv jsonl openmetrics otlp_profiles otlp_metrics; do
		check "$format follows its rules, and has the sums of the session: $session" is_right $format $session
	done
done

# trace_is_right SESSION "OPTIONS OF DWELL" OPTIONS OF THE CHECK...
trace_is_right() {
	# shellcheck disable=SC2086 # they are several
	exits 0 "$DWELL" export -f perfetto -o "$dir/x.pftrace" $2 && tests/perfetto.py "$dir/x.pftrace" "$dir/$1.dwell" "${@:3}"
}
if command -v protoc >/dev/null; then
	for session in $sessions; do
		check "a trace has the ledger's time by state, by our reader and by protoc: $session" trace_is_right $session "$dir/$session.dwell"
	done
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
check "otlp is two files" says 64 "otlp_profiles and -f otlp_metrics" "$DWELL" export -f otlp -o "$dir/x" "$dir/stacks.dwell"
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
