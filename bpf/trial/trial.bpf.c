// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * The smallest object for which libbpf asks the kernel all that it asks for dwell's: types,
 * constant data, a function, a helper. See src/capture/trial.c. It is never attached.
 */
#include <vmlinux.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

/* libbpf 1.1 crashes when it has no memory for the types of an object without such a map. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} trial_map SEC(".maps");

const volatile unsigned long trial_address = 0;

SEC("raw_tp/sys_enter")
int trial(void *ctx)
{
	u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (const void *)trial_address);
	return 0;
}
