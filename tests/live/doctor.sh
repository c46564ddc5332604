#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The doctor on the running kernel: its table, its JSON, its time, its manners.
. tests/lib.sh
need_root
mount_tracefs
mount_securityfs

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
json=$work/doctor.json

start=$(date +%s%N)
"$DWELL" doctor --json --host >"$json"
status=$?
took=$((($(date +%s%N) - start) / 1000000))

check "exits 0 where the core works" test $status -eq 0
# Each signal has programs that the verifier takes its time for.
most=$((5000 + 1000 * $(jq '.signals | length' "$json")))
check "takes under $most ms ($took ms)" test $took -lt $most
check "its JSON follows docs/doctor.schema.json" tests/schema.py docs/doctor.schema.json "$json"
check "every feature that is not ok has a cause and a remedy" jq -e \
	'[.features[] | select(.status != "ok") | .cause.text, .cause.remedy] | all(. != null and . != "")' "$json"
offered=$("$DWELL" record -s help | sed -n 's|^  \([a-z]\{1,\}\) .*|\1|p')
# shellcheck disable=SC2086 # a word each
check "it has every signal that -s offers" jq -e '[.signals[].name] as $n | $ARGS.positional | all(IN($n[]))' \
	"$json" --args $offered
check "a signal that is not ok has a cause and a remedy" jq -e \
	'[.signals[] | select(.status != "ok") | .cause.text, .cause.remedy] | all(. != null and . != "")' "$json"
check "one that is has its hooks" jq -e '[.signals[] | select(.status == "ok" and .tried) | .hooks | length > 0] | all' "$json"
check "runq works wherever the core does" jq -e '.signals[] | select(.name == "runq") | .status == "ok"' "$json"
check "no record of its own was lost" jq -e '.pipeline.lost | add == 0' "$json"

is() { # is NAME STATUS GATE [CAUSE]
	check "$1 is $2 at the gate $3${4:+, because of $4}" jq -e --arg n "$1" --arg s "$2" --arg g "$3" \
		--arg c "${4:-}" '.features[] | select(.name == $n)
		| .status == $s and .gate == $g and (.cause.id // "") == $c' "$json"
}

for feature in ring_buffer tp_btf sched_switch raw_tracepoint tracepoint perf_cpu_clock uprobe \
	uretprobe usdt task_storage user_stack kernel_stack iter_task sock_state; do
	is $feature ok delivery
done

# What this kernel lacks depends on the kernel; where its configuration says so, so must we.
if zgrep -q '^# CONFIG_KPROBES is not set' /proc/config.gz 2>/dev/null; then
	is kprobe unavailable attach kernel_config
	is fentry unavailable load unexplained
	check "fentry's EPERM is said to be unexplained, in as many words" jq -e \
		'.features[] | select(.name == "fentry") | .cause.text
		| test("EPERM although every known precondition holds") and test("gives no reason")' "$json"
fi

"$DWELL" doctor --host >"$work/text" 2>"$work/err"
check "its text has no line beyond 80 columns" env LC_ALL=C awk \
	'{ gsub(/[\200-\277]/, ""); if (length($0) > 80) bad = 1 } END { exit bad || NR < 20 }' "$work/text"
check "its text goes to stdout, nothing to stderr" test -s "$work/text" -a ! -s "$work/err"
check "no colour where there is no terminal" sh -c "! grep -q '$(printf '\033')' '$work/text'"

# How it prints is the same whatever it has tried: without signals it takes a third of the time.
doctor="'$DWELL' doctor --no-signals"
check "-v shows the whole verifier log" sh -c "$doctor -v 2>&1 >/dev/null | grep -q 'libbpf:'"
check "--color always means it" sh -c "$doctor --color always | grep -q '$(printf '\033')'"
for options in "doctor --no-signals" "doctor --no-signals --json" "--help" "--version"; do
	check "dwell $options: a full stdout is an error, not silence" sh -c \
		"'$DWELL' $options >/dev/full 2>'$work/err'; test \$? -eq 1 && grep -q 'cannot write' '$work/err'"
done
check "a closed stdout is no reason to write elsewhere" sh -c "$doctor >&- 2>'$work/err' && test ! -s '$work/err'"
check "a reader that leaves is no error" sh -c "$doctor --json 2>'$work/err' | head -1 >/dev/null; test ! -s '$work/err'"
check "-q prints the verdict alone" sh -c "test \$('$DWELL' doctor -q | wc -l) -eq 1"
check "dwell help doctor is dwell doctor --help" sh -c "test \"\$('$DWELL' help doctor)\" = \"\$('$DWELL' doctor --help)\""
check "a wrong option is 64, with a hint" sh -c "'$DWELL' doctor --nonsense 2>'$work/err'; test \$? -eq 64 && grep -q -- --help '$work/err'"
check "a wrong command is 64" sh -c "'$DWELL' nonsense 2>/dev/null; test \$? -eq 64"
check "bare dwell prints one screen of help" sh -c "test \$('$DWELL' | wc -l) -le 24"
finish
