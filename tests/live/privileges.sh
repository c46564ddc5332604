#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The doctor with less than it would like: each want is told apart, with its own remedy.
. tests/lib.sh
need_root
mount_tracefs
mount_securityfs

# A copy that any user can reach, wherever the build folder is.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
install -m 755 "$DWELL" "$work/dwell"

# as_nobody CAPABILITIES...: a user without rights but for those
as_nobody() {
	local caps=-all
	while [ "$1" != -- ]; do caps=$caps,+$1; shift; done
	shift
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=$caps --ambient-caps=$caps \
		--bounding-set=$caps "$@"
}

# expect WHAT STATUS TEXT... -- COMMAND: exit status, and each text in the output's words
expect() {
	local what=$1 status=$2 texts=() text got
	shift 2
	while [ "$1" != -- ]; do texts+=("$1"); shift; done
	shift
	"$@" >"$work/out" 2>&1
	got=$?
	check "$what: exit status $status (is $got)" test $got -eq "$status"
	tr -s ' \n' ' ' <"$work/out" >"$work/words"
	for text in "${texts[@]}"; do
		check "$what: says '$text'" grep -qF -- "$text" "$work/words"
	done
}

setcap_hint="setcap cap_bpf,cap_perfmon,cap_dac_read_search+ep $work/dwell"
expect "no capability" 77 "dwell cannot run in this environment" "NOT TRIED: all" \
	"this process lacks CAP_BPF and CAP_PERFMON" "run it with sudo" "$setcap_hint" \
	-- as_nobody -- "$work/dwell" doctor
expect "CAP_BPF only" 77 "this process lacks CAP_PERFMON" "$setcap_hint" \
	-- as_nobody bpf -- "$work/dwell" doctor
expect "uid 0 without capabilities" 77 "lacks CAP_BPF and CAP_PERFMON" "--cap-add BPF" \
	-- setpriv --inh-caps=-all --bounding-set=-bpf,-perfmon,-sys_admin "$work/dwell" doctor
expect "CAP_BPF and CAP_PERFMON" 0 "dwell works here" "core ring_buffer tp_btf sched_switch" \
	"tracefs is mounted, but this process may not read it (it lacks CAP_DAC_READ_SEARCH)" \
	"add cap_dac_read_search" "uid 65534 with CAP_BPF and CAP_PERFMON only" \
	-- as_nobody bpf perfmon -- "$work/dwell" doctor
expect "the capabilities that the remedy gives" 0 "tracepoint" "tracefs mounted and readable" \
	-- as_nobody bpf perfmon dac_read_search -- "$work/dwell" doctor
# Kernels without the change of July 2025 attach uprobes for CAP_PERFMON: either is right.
check "CAP_BPF and CAP_PERFMON: uprobes work, or CAP_SYS_ADMIN is said to be missing" \
	grep -qE 'uretprobe usdt|lacks CAP_SYS_ADMIN' "$work/words"
expect "own pid and mount namespaces" 0 "dwell works here" "a separate pid namespace" \
	"run it on the host (or with --pid=host)" \
	-- unshare --pid --mount --fork --mount-proc "$work/dwell" doctor
expect "own pid namespace, the host's /proc" 0 "dwell works here" \
	-- unshare --pid --fork "$work/dwell" doctor
expect "tracefs unmounted" 0 "dwell works here" "tracefs is not mounted" \
	"mount -t tracefs tracefs /sys/kernel/tracing" \
	-- unshare --mount sh -c "umount -l /sys/kernel/tracing; umount -l /sys/kernel/debug 2>/dev/null
		'$work/dwell' doctor"
expect "own user namespace" 77 "root inside a user namespace only" "run it on the host" \
	-- unshare --user --map-root-user "$work/dwell" doctor
expect "a seccomp filter" 77 "a seccomp filter is active" "seccomp=unconfined" \
	-- "$TOOLS/denied" "$work/dwell" doctor
expect "no BTF" 77 "cannot be read from /sys/kernel/btf/vmlinux" "CONFIG_DEBUG_INFO_BTF=y" \
	-- unshare --mount sh -c "mount -t tmpfs tmpfs /sys/kernel/btf; '$work/dwell' doctor"
expect "no /proc" 77 "/proc is not mounted" "mount -t proc proc /proc" \
	-- unshare --mount sh -c "umount -l /proc; '$work/dwell' doctor"
expect "no /dev/null" 77 "cannot open /dev/null" "mount /dev here" \
	-- unshare --mount sh -c "mount -t tmpfs tmpfs /dev; '$work/dwell' run -- true"
expect "few open files" 77 "ulimit -n 1024" \
	-- sh -c "ulimit -n 14; '$work/dwell' doctor"
finish
