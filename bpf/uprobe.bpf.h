/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Programs at uprobes can be preempted, and another thread may then run the same program on the
 * same CPU. From 6.13 on the kernel gives programs of their type that use 64 bytes of stack or more
 * a stack per CPU and program, which the second run would write over. It does not do so to a
 * program that has a tail call. So each of these has one, which is never reached, and which the
 * verifier removes. tests/unit/object_test.c looks for it in every such program;
 * tests/live/preempt.sh looks at the machine code, and preempts them.
 */
#ifndef DWELL_UPROBE_BPF_H
#define DWELL_UPROBE_BPF_H

/* It is never created: what names it is not reached. */
struct uprobe_nowhere_map {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
};

extern struct uprobe_nowhere_map uprobe_nowhere SEC(".maps");

/* The first statement of every program at a uprobe. */
#define UPROBE_BEGIN(ctx)                                                                          \
	do {                                                                                       \
		if (cfg_never)                                                                     \
			bpf_tail_call(ctx, &uprobe_nowhere, 0);                                    \
	} while (0)

#endif
