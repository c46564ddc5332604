/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The first bytes of what a thread has just received or sent, from its own memory: its system call
 * says where. io_uring and sendfile have no such call: these requests are timed without a name.
 */
#ifndef DWELL_REQUESTS_PAYLOAD_BPF_H
#define DWELL_REQUESTS_PAYLOAD_BPF_H

#if defined(__TARGET_ARCH_x86)
#define CALL_OF(context)      ((s64)(context)->orig_ax)
#define IS_COMPAT_OF(context) ((context)->cs == CS_USER_32)
enum {
	CALL_READ = 0,
	CALL_WRITE = 1,
	CALL_READV = 19,
	CALL_WRITEV = 20,
	CALL_SENDTO = 44,
	CALL_RECVFROM = 45,
	CALL_SENDMSG = 46,
	CALL_RECVMSG = 47,
};
#elif defined(__TARGET_ARCH_arm64)
#define CALL_OF(context)      ((s64)(context)->regs[8])
#define IS_COMPAT_OF(context) false /* they have no registers of this layout */
enum {
	CALL_READ = 63,
	CALL_WRITE = 64,
	CALL_READV = 65,
	CALL_WRITEV = 66,
	CALL_SENDTO = 206,
	CALL_RECVFROM = 207,
	CALL_SENDMSG = 211,
	CALL_RECVMSG = 212,
};
#endif

#define MSGHDR_IOV_AT 16 /* of struct msghdr, where its vector is */

/* A buffer as struct iovec has it. */
struct payload {
	u64 address;
	u64 length;
};

static __always_inline bool find_vector(u64 vector, struct payload *ret)
{
	return !bpf_probe_read_user(ret, sizeof(*ret), (void *)vector);
}

/* A system call and two of its arguments. */
struct payload_call {
	s64 number;
	u64 second, third;
};

/* A thread of the kernel's own has no system call, or its parent's. */
#define PF_WITHOUT_CALL (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)

/* Where there is the helper, loads are enough. */
static __always_inline bool read_call_directly(struct payload_call *ret)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs;

	if (task->flags & PF_WITHOUT_CALL)
		return false;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
#if defined(__TARGET_ARCH_x86)
	if (task->thread_info.status & TS_COMPAT)
		return false;
	ret->number = (s64)regs->orig_ax;
	ret->second = regs->si;
	ret->third = regs->dx;
#elif defined(__TARGET_ARCH_arm64)
	ret->number = (s64)regs->user_regs.regs[8];
	ret->second = regs->user_regs.regs[1];
	ret->third = regs->user_regs.regs[2];
#endif
	return true;
}

static __always_inline bool read_call_of_old(struct payload_call *ret)
{
	struct cpu_regs regs;

	if ((BPF_CORE_READ(current_task(), flags) & PF_WITHOUT_CALL) || !regs_of_user(&regs) ||
	    IS_COMPAT_OF(&regs))
		return false;
	ret->number = CALL_OF(&regs);
	ret->second = REGS_ARG2(&regs);
	ret->third = REGS_ARG3(&regs);
	return true;
}

/* Not inlined: what it needs of the stack is free again when it returns. */
static __noinline bool find_payload(struct payload *ret)
{
	struct payload_call call;
	u64 vector = 0;

	if (!ret || !(cfg_task_regs ? read_call_directly(&call) : read_call_of_old(&call)))
		return false;
	switch (call.number) {
	case CALL_READ:
	case CALL_WRITE:
	case CALL_SENDTO:
	case CALL_RECVFROM:
		ret->address = call.second;
		ret->length = call.third;
		return true;
	case CALL_READV:
	case CALL_WRITEV:
		return find_vector(call.second, ret);
	case CALL_SENDMSG:
	case CALL_RECVMSG:
		return !bpf_probe_read_user(&vector, sizeof(vector),
					    (void *)(call.second + MSGHDR_IOV_AT)) &&
		       find_vector(vector, ret);
	}
	return false;
}

/* Copies up to max bytes. Returns the count. */
static __always_inline u16 copy_payload(u8 *to, u64 max, u64 moved)
{
	struct payload payload = {};
	u64 length;

	if (!find_payload(&payload))
		return 0;
	length = payload.length < moved ? payload.length : moved;
	if (length > max)
		length = max;
	if (length < 1)
		return 0;
	ledger_at_most(length, max);
	return bpf_probe_read_user(to, (u32)length, (void *)payload.address) ? 0 : (u16)length;
}

#endif
