/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The system call in which a thread is, without a hook there: its number and first arguments, from
 * the registers with which the thread entered the kernel.
 */
#ifndef DWELL_CALL_BPF_H
#define DWELL_CALL_BPF_H

#include "regs.bpf.h"

/* The first arguments and the number, in whichever way the call came. */
struct call {
	u64 first, second, third;
	s64 number;
	u32 is_compat;
};

#if defined(__TARGET_ARCH_x86)
/* Of struct cpu_regs, from cx on: a program has 512 bytes of stack, and all would take 168. */
struct saved_call {
	u64 cx, dx, si, di, orig_ax;
};
_Static_assert(__builtin_offsetof(struct cpu_regs, orig_ax) -
			       __builtin_offsetof(struct cpu_regs, cx) ==
		       __builtin_offsetof(struct saved_call, orig_ax),
	       "the registers of a call are side by side");
#endif

/*
 * The registers with which a task entered the kernel. Without the helper (before 5.15) they are
 * where x86 has them: at the very top of the task's stack.
 */
static __always_inline bool read_call(struct task_struct *task, struct call *call)
{
	struct pt_regs *regs;
#if defined(__TARGET_ARCH_x86)
	struct saved_call saved;
	void *at;

	call->is_compat = (task->thread_info.status & TS_COMPAT) != 0;
	if (cfg_task_regs) {
		regs = (struct pt_regs *)bpf_task_pt_regs(task);
		call->number = (s64)regs->orig_ax;
		call->first = call->is_compat ? (u32)regs->bx : regs->di;
		call->second = call->is_compat ? (u32)regs->cx : regs->si;
		call->third = regs->dx;
		return true;
	}
	at = task->stack + KERNEL_STACK_BYTES - sizeof(struct cpu_regs);
	if (bpf_probe_read_kernel(&saved, sizeof(saved),
				  at + __builtin_offsetof(struct cpu_regs, cx)))
		return false;
	call->number = (s64)saved.orig_ax;
	call->first = call->is_compat ? 0 : saved.di;
	call->second = call->is_compat ? (u32)saved.cx : saved.si;
	call->third = saved.dx;
	return !call->is_compat ||
	       !bpf_probe_read_kernel(&call->first, sizeof(u32),
				      at + __builtin_offsetof(struct cpu_regs, bx));
#elif defined(__TARGET_ARCH_arm64)
	if (!cfg_task_regs)
		return false;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	call->is_compat = 0;
	call->number = (s32)regs->user_regs.regs[8];
	call->first = regs->user_regs.regs[0];
	call->second = regs->user_regs.regs[1];
	call->third = regs->user_regs.regs[2];
	return true;
#endif
}

#endif
