// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * Nothing at all, at a function of a library: what a uprobe costs that does nothing.
 */
#include <vmlinux.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("uprobe")
int empty_begin(void *ctx)
{
	return 0;
}
