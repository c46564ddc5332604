#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# layers.sh DIR: fails, naming file and line, where an include breaks the layer rule:
#   abi → base → model → {capture, symbolize, runtime, store} → worker
#       → {report, export, diff, config, doctor} → {engine, page} → {agent, top} → cmd → main
# Siblings do not include each other; signals/*.bpf.c sees common.bpf.h and its own folder,
# signals/*.c and records/*.c see model/signal.h, abi and base; records/ has no BPF code.

set -u
cd "${1:-.}" || exit 1

declare -A level=(
	[abi]=0 [base]=1 [model]=2 [capture]=3 [symbolize]=3 [runtime]=3 [store]=3 [worker]=4
	[report]=5 [export]=5 [diff]=5 [config]=5 [doctor]=5 [engine]=6 [page]=6 [agent]=7 [top]=7 [cmd]=8 [main]=9
)

# The layer of a path below the root, in REPLY: abi/x → abi, src/base/x → base, signals/x/y →
# signals/x, records/x/y → records/x. Thousands of includes are looked at: no process is started
# for any of them.
layer_of() {
	local rest
	case $1 in
	src/main.c) REPLY=main ;;
	src/*) rest=${1#src/}; REPLY=${rest%%/*} ;;
	signals/*) rest=${1#signals/}; REPLY=signals/${rest%%/*} ;;
	records/*) rest=${1#records/}; REPLY=records/${rest%%/*} ;;
	*) REPLY=${1%%/*} ;;
	esac
}

# DIRECTORY and a path relative to it, without "." and "..", in REPLY.
join_path() {
	local path=$1/$2
	while [[ $path =~ ^(.*/)?[^/.][^/]*/\.\./(.*)$ ]]; do
		path=${BASH_REMATCH[1]}${BASH_REMATCH[2]}
	done
	REPLY=$path
}

may_include() {
	local file=$1 from=$2 to=$3 target=$4
	[ "$from" = "$to" ] && return 0
	case $file in
	signals/*.bpf.c | signals/*.bpf.h) [ "$target" = bpf/common.bpf.h ]; return ;;
	records/*.bpf.?) return 1 ;;
	signals/* | records/*) [ "$to" = abi ] || [ "$to" = base ] || [ "$target" = src/model/signal.h ]; return ;;
	bpf/*) [ "$to" = abi ]; return ;;
	esac
	# A reader of a signal's results may see the signal's own header, never its code.
	case $target in signals/*/*.bpf.h) return 1 ;; signals/*/*.h | records/*/*.h) [ "${level[$from]:-0}" -ge 5 ]; return ;; esac
	[ -n "${level[$from]:-}" ] && [ -n "${level[$to]:-}" ] && [ "${level[$from]}" -gt "${level[$to]}" ]
}

bad=0 seen=0
while IFS=: read -r file line text; do
	included=${text#*\"}
	join_path "${file%/*}" "${included%%\"*}"
	target=$REPLY
	[ -e "$target" ] || continue # generated
	seen=$((seen + 1))
	layer_of "$file"
	from=$REPLY
	layer_of "$target"
	to=$REPLY
	if ! may_include "$file" "$from" "$to" "$target"; then
		echo "$file:$line: $from may not include $target" >&2
		bad=$((bad + 1))
	fi
done < <(grep -rnE '^#include "' abi bpf records signals src --include='*.[ch]' --include='*.def')

if [ "$seen" -eq 0 ]; then
	echo "no include was found below $(pwd): is this dwell's source?" >&2
	exit 1
fi
[ "$bad" -eq 0 ] && echo "ok - $seen includes follow the layer rule"
