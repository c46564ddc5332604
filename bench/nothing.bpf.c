// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * Nothing at all, at a place of user code, where what is left is the trap; and at both ends of each
 * system call, where it is the kernel's longer way there.
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

SEC("?tp_btf/sys_enter")
int nothing_call_enter(void *ctx)
{
	return 0;
}

SEC("?tp_btf/sys_exit")
int nothing_call_exit(void *ctx)
{
	return 0;
}
