#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# layers.sh DIR: fails, naming file and line, where an include breaks the layer rule:
#   abi → base → model → {capture, symbolize, runtime, store} → worker
#       → {report, export, doctor} → {agent, cmd} → main
# Siblings do not include each other; signals/*.bpf.c sees common.bpf.h and its own folder,
# signals/*.c sees model/signal.h, abi and base.

set -u
cd "${1:-.}" || exit 1

declare -A level=(
	[abi]=0 [base]=1 [model]=2 [capture]=3 [symbolize]=3 [runtime]=3 [store]=3 [worker]=4
	[report]=5 [export]=5 [doctor]=5 [agent]=6 [cmd]=6 [main]=7
)

# The layer of a path below the root: abi/x → abi, src/base/x → base, signals/x/y → signals/x.
layer_of() {
	case $1 in
	src/main.c) echo main ;;
	src/*) echo "${1#src/}" | cut -d/ -f1 ;;
	signals/*) echo "$1" | cut -d/ -f1,2 ;;
	*) echo "$1" | cut -d/ -f1 ;;
	esac
}

may_include() {
	local file=$1 from=$2 to=$3 target=$4
	[ "$from" = "$to" ] && return 0
	case $file in
	signals/*.bpf.c | signals/*.bpf.h) [ "$target" = bpf/common.bpf.h ]; return ;;
	signals/*) [ "$to" = abi ] || [ "$to" = base ] || [ "$target" = src/model/signal.h ]; return ;;
	bpf/*) [ "$to" = abi ]; return ;;
	esac
	# A reader of a signal's results may see the signal's own header, never its code.
	case $target in signals/*/*.bpf.h) return 1 ;; signals/*/*.h) [ "${level[$from]:-0}" -ge 5 ]; return ;; esac
	[ -n "${level[$from]:-}" ] && [ -n "${level[$to]:-}" ] && [ "${level[$from]}" -gt "${level[$to]}" ]
}

bad=0 seen=0
while IFS=: read -r file line text; do
	target=$(realpath -m --relative-to=. "$(dirname "$file")/$(sed 's/.*"\(.*\)".*/\1/' <<<"$text")")
	[ -e "$target" ] || continue # generated
	seen=$((seen + 1))
	from=$(layer_of "$file") to=$(layer_of "$target")
	if ! may_include "$file" "$from" "$to" "$target"; then
		echo "$file:$line: $from may not include $target" >&2
		bad=$((bad + 1))
	fi
done < <(grep -rnE '^#include "' abi bpf signals src --include='*.[ch]' --include='*.def')

if [ "$seen" -eq 0 ]; then
	echo "no include was found below $(pwd): is this dwell's source?" >&2
	exit 1
fi
[ "$bad" -eq 0 ] && echo "ok - $seen includes follow the layer rule"
