/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The registers with which a thread left user space. Their layout is the UAPI's struct pt_regs,
 * which does not change: programs get it as their context, and the kernel keeps it at the top of a
 * thread's stack.
 */
#ifndef DWELL_REGS_BPF_H
#define DWELL_REGS_BPF_H

#if defined(__TARGET_ARCH_x86)
#define KERNEL_STACK_BYTES 16384 /* of x86-64, but for kernels with KASAN */
#define CS_USER_32	   0x23
#define CS_USER_MASK	   3

struct cpu_regs {
	u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
	u64 ip, cs, flags, sp, ss;
};
#elif defined(__TARGET_ARCH_arm64)
struct cpu_regs {
	u64 regs[31];
	u64 sp;
	u64 pc;
	u64 pstate;
};
#endif

/*
 * As they were when the thread entered the kernel. Without the helper (before 5.15) they are where
 * x86 has them: at the very top of the task's stack.
 */
static __always_inline bool regs_of_user(struct cpu_regs *ret_regs)
{
	void *at;

	if (cfg_task_regs) {
		at = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
		return !bpf_probe_read_kernel(ret_regs, sizeof(*ret_regs), at);
	}
#if defined(__TARGET_ARCH_x86)
	at = BPF_CORE_READ(current_task(), stack);
	return !bpf_probe_read_kernel(ret_regs, sizeof(*ret_regs),
				      at + KERNEL_STACK_BYTES - sizeof(*ret_regs));
#else
	return false;
#endif
}

#endif
