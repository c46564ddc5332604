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

#define REGS_IP(regs)	  ((regs)->ip)
#define REGS_RESULT(regs) ((regs)->ax)
#define REGS_ARG1(regs)	  ((regs)->di)
#define REGS_ARG2(regs)	  ((regs)->si)
#define REGS_ARG3(regs)	  ((regs)->dx)
#define REGS_ARG4(regs)	  ((regs)->cx)
#define REGS_RETURN_BYTES 8 /* a return takes its address from the stack */

/* The number of the system call under way, of the struct pt_regs that sys_exit has. */
#define CALL_NUMBER(regs) ((long)(regs)->orig_ax)
#elif defined(__TARGET_ARCH_arm64)
struct cpu_regs {
	u64 regs[31];
	u64 sp;
	u64 pc;
	u64 pstate;
};

#define REGS_IP(context)     ((context)->pc)
#define REGS_RESULT(context) ((context)->regs[0])
#define REGS_ARG1(context)   ((context)->regs[0])
#define REGS_ARG2(context)   ((context)->regs[1])
#define REGS_ARG3(context)   ((context)->regs[2])
#define REGS_ARG4(context)   ((context)->regs[3])
#define REGS_RETURN_BYTES    0
#define CALL_NUMBER(context) ((long)(context)->syscallno)
#endif
#define REGS_SP(context) ((context)->sp)

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

/* One word of these, at its offset in struct cpu_regs; 0: it is not known. */
static __always_inline u64 user_reg_at(u32 offset)
{
	void *at = NULL;
	u64 word = 0;

	if (cfg_task_regs)
		at = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
#if defined(__TARGET_ARCH_x86)
	else
		at = BPF_CORE_READ(current_task(), stack) + KERNEL_STACK_BYTES -
		     sizeof(struct cpu_regs);
#endif
	return at && !bpf_probe_read_kernel(&word, sizeof(word), at + offset) ? word : 0;
}

#endif
