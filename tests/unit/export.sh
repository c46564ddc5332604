#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `dwell export` as it is typed: each format by its own rules, its sums those of the report; files.
. tests/lib.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
make_session stacks "$dir"
make_session run "$dir"
stacks=$dir/stacks.dwell

says() { exits "$1" "${@:3}" && grep -qF -- "$2" "$dir/out" "$dir/err"; }

# is_right FORMAT [OPTIONS]: the export follows its format, and has the sums of the report
is_right() {
	local format=$1 kind=
	shift
	[ "${1:-}" != --kind ] || kind=$2
	[ "$format" = folded ] && kind=${kind:-cpu}
	"$DWELL" report --json "$stacks" "$@" >"$dir/report" && exits 0 "$DWELL" export -f "$format" "$stacks" "$@" &&
		tests/exports.py "$format" "$dir/out" "$dir/report" ${kind:+"$kind"}
}
for format in folded pprof speedscope svg; do
	for options in "" "--kind cpu" "--kind blocked" "--kernel" "--pid 500" "--state cpu.user"; do
		# shellcheck disable=SC2086 # they are several
		check "$format is right, and sums up to the report: $options" is_right $format $options
	done
done
follows_schema() { exits 0 "$DWELL" export -f speedscope "$@" && tests/schema.py tests/speedscope.schema.json "$dir/out"; }
check "speedscope follows its schema" follows_schema "$stacks"
check "by count too" follows_schema "$stacks" --weight count
check "without samples too" follows_schema "$dir/run.dwell"

# The real reader, where it is installed.
total_of() { (cd "$dir" && HOME=$dir go tool pprof -top -sample_index="$1" p.pb.gz) | sed -n 's/.*Total samples = \([^ ]*\).*/\1/p'; }
if command -v go >/dev/null; then
	exits 0 "$DWELL" export -f pprof -o "$dir/p.pb.gz" "$stacks"
	check "go tool pprof has the report's sums" \
		test "$(total_of samples) $(total_of cpu) $(total_of off_cpu)" = "215 3.74s 3900ms"
	traces() { (cd "$dir" && HOME=$dir go tool pprof -traces p.pb.gz) | grep -q 'utf8_next(char const\*&) (inline)'; }
	check "go tool pprof shows inlined functions" traces
else
	echo "ok - go tool pprof # SKIP it is not installed"
fi

part_has_its_time() {
	exits 0 "$DWELL" export -f pprof -o "$dir/part.pb.gz" "$stacks@1s-" && python3 - "$dir/part.pb.gz" <<-'END'
		import gzip, sys
		sys.path.insert(0, "tests")
		from protobuf import fields
		message = fields(gzip.open(sys.argv[1]).read())
		assert (message[9], message[10]) == ([1760000001000000000], [1000000000]), (message[9], message[10])
	END
}
check "pprof: the second of two seconds began a second after the session" part_has_its_time
check "folded leaves blocked ones out, and says so" says 0 "28 blocked samples are left out" "$DWELL" export -f folded "$stacks"
sum() { awk '{ sum += $NF } END { printf "%.0f\n", sum }' "$dir/out"; }
exits 0 "$DWELL" export -f folded --weight ns --kind blocked "$stacks"
check "folded by time" test "$(sum)" = 3900000000
exits 0 "$DWELL" export -f folded "$stacks@1s-2s"
check "a part is taken" test "$(sum)" = 57
check "a part where nothing is, is said" says 1 "no window" "$DWELL" export -f folded "$stacks@100s-"

check "-o makes the file" exits 0 "$DWELL" export -f svg -o "$dir/f.svg" "$stacks"
check "and leaves nothing beside it" test "$(ls "$dir"/f.svg*)" = "$dir/f.svg"
check "of its owner alone" test "$(stat -c %a "$dir/f.svg")" = 600
cp "$dir/f.svg" "$dir/before"
echo "no session" >"$dir/text"
check "a failure is one" exits 1 "$DWELL" export -f svg -o "$dir/f.svg" "$dir/text"
check "and the old file stays" cmp "$dir/f.svg" "$dir/before"
check "nothing is left beside it" test "$(ls "$dir"/f.svg*)" = "$dir/f.svg"
check "a device is written into, and stays one" eval 'exits 0 "$DWELL" export -f svg -o /dev/null "$stacks" && test -c /dev/null'
check "a full one is named" says 1 "cannot write /dev/full: No space left" "$DWELL" export -f svg -o /dev/full "$stacks"
check "- is stdout" says 0 "<svg" "$DWELL" export -f svg -o - "$stacks"
check "a folder that is not there is said" says 1 "cannot write" "$DWELL" export -f svg -o "$dir/none/f.svg" "$stacks"
check "a session without samples is said" says 0 "no samples" "$DWELL" export -f folded "$dir/run.dwell"
check "no format is wrong usage" says 64 "needs a format" "$DWELL" export "$stacks"
check "an unknown format is wrong usage" says 64 "folded, pprof, speedscope, svg" "$DWELL" export -f flame "$stacks"
check "an unknown weight is wrong usage" says 64 "--weight is" "$DWELL" export -f svg --weight kg "$stacks"
check "an unknown state is said" says 64 "--state takes a state" "$DWELL" export -f svg --state cpus "$stacks"
check "no session is wrong usage" says 64 "needs a session" "$DWELL" export -f svg
finish
