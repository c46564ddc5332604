/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Waits for locks of the kernel's that are over, until a switch counts them. When such a wait ends
 * the lock is held, and may be one that a map needs to be changed: of a hash's bucket, of a queue.
 * So nothing but memory of the CPU's own is written then; at a switch no such lock is held.
 */
#ifndef DWELL_LOCKS_KERNEL_BPF_H
#define DWELL_LOCKS_KERNEL_BPF_H

#define KERNEL_WAITS_MAX 64 /* between two switches; a power of two */

struct kernel_wait {
	u64 start_ns; /* of the process */
	u32 tgid;
	u32 type; /* enum lock_type */
	u64 lock; /* its address */
	u64 ns;
};

struct kernel_waits {
	u64 spin_lock; /* one that is spun for now; 0: none */
	u64 spin_ns;   /* since when */
	u64 count;     /* of those that are over */
	struct kernel_wait waits[KERNEL_WAITS_MAX];
};

struct kernel_waits_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct kernel_waits);
};

extern struct kernel_waits_map lock_kernel_waits SEC(".maps");

static __always_inline struct kernel_waits *kernel_waits_here(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&lock_kernel_waits, &zero);
}

#endif
