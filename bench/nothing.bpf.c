// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * Nothing at all, at a place of user code: what is left is the trap.
 */
#include <vmlinux.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("uprobe")
int nothing_enter(void *ctx)
{
	return 0;
}

SEC("uretprobe")
int nothing_leave(void *ctx)
{
	return 0;
}
