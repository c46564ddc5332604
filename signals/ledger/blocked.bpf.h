/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Why a thread is blocked, found at its switch-out from what the kernel has saved of it: the
 * registers name the syscall and its file. No syscall hook is needed.
 */
#ifndef DWELL_LEDGER_BLOCKED_BPF_H
#define DWELL_LEDGER_BLOCKED_BPF_H

#include "waits.h"

#define TASK_UNINTERRUPTIBLE 0x02
#define TASK_STOPPED	     0x04 /* __TASK_STOPPED */
#define TASK_TRACED	     0x08 /* __TASK_TRACED */
#define TASK_DEAD	     0x80
#define PF_IO_WORKER	     0x10
#define PF_KTHREAD	     0x200000

#define MODE_TYPE   0170000
#define MODE_SOCKET 0140000
#define MODE_FIFO   0010000
#define MODE_CHAR   0020000

#define FUTEX_COMMAND	0x7f
#define FUTEX_WAIT	0
#define MUTEX_CONTENDED 2 /* the futex word of a glibc mutex that somebody waits for */
#define MUTEX_OWNER_AT	8 /* and where that has its owner's tid */

/* What a syscall waits for, by its number: user space fills it from names. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SYSCALL_LIMIT);
	__type(key, u32);
	__type(value, u32);
} ledger_waits SEC(".maps");

#if defined(__TARGET_ARCH_x86)
#define SYSCALL_NUMBER(regs) ((regs)->orig_ax)
#elif defined(__TARGET_ARCH_arm64)
#define SYSCALL_NUMBER(regs) ((regs)->user_regs.regs[8])
#endif

static __always_inline u32 state_of_file(struct task_struct *task, u32 fd)
{
	struct fdtable *table = task->files->fdt;
	struct file **slot = table->fd;
	struct file *file = NULL;

	if (fd >= table->max_fds || bpf_probe_read_kernel(&file, sizeof(file), slot + fd) || !file)
		return STATE_BLOCKED_OTHER;
	switch (BPF_CORE_READ(file, f_inode, i_mode) & MODE_TYPE) {
	case MODE_SOCKET:
		return STATE_BLOCKED_NET;
	case MODE_FIFO:
	case MODE_CHAR:
		return STATE_BLOCKED_PIPE;
	case 0: /* an event, a timer, a signal file: no disk behind it */
		return STATE_BLOCKED_POLL;
	default:
		return STATE_BLOCKED_DISK;
	}
}

/* A lock only if an owner is seen; other futexes are conditions, joins, semaphores. */
static __always_inline u32 state_of_futex(u64 address, u64 operation)
{
	u32 word = 0, owner = 0;

	if ((operation & FUTEX_COMMAND) != FUTEX_WAIT)
		return STATE_BLOCKED_IDLE;
	bpf_probe_read_user(&word, sizeof(word), (void *)address);
	bpf_probe_read_user(&owner, sizeof(owner), (void *)(address + MUTEX_OWNER_AT));
	return word == MUTEX_CONTENDED && owner && owner <= PID_LIMIT ? STATE_BLOCKED_LOCK
								      : STATE_BLOCKED_IDLE;
}

static __always_inline u32 state_of_syscall(struct task_struct *task, struct pt_regs *regs,
					    u32 number)
{
	u32 *wait = bpf_map_lookup_elem(&ledger_waits, &number);

	switch (wait ? *wait : WAIT_OTHER) {
	case WAIT_SLEEP:
		return STATE_BLOCKED_SLEEP;
	case WAIT_POLL:
		return STATE_BLOCKED_POLL;
	case WAIT_IDLE:
		return STATE_BLOCKED_IDLE;
	case WAIT_NET:
		return STATE_BLOCKED_NET;
	case WAIT_CHILD:
		return STATE_BLOCKED_CHILD;
	case WAIT_DISK:
		return STATE_BLOCKED_DISK;
	case WAIT_FUTEX:
		return state_of_futex(PT_REGS_PARM1(regs), PT_REGS_PARM2(regs));
	case WAIT_FILE:
		return state_of_file(task, PT_REGS_PARM1(regs));
	default:
		return STATE_BLOCKED_OTHER;
	}
}

static __always_inline u32 blocked_state(struct task_struct *task)
{
	bool waits_for_io = BPF_CORE_READ_BITFIELD(task, in_iowait);
	u64 now = task_state(task);
	struct pt_regs *regs;
	s64 number;
	u32 state;

	if (now & (TASK_STOPPED | TASK_TRACED))
		return STATE_BLOCKED_STOPPED;
	/* Their registers are nobody's, or their parent's. */
	if (task->flags & (PF_KTHREAD | PF_IO_WORKER))
		return waits_for_io ? STATE_BLOCKED_DISK : STATE_BLOCKED_OTHER;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	number = SYSCALL_NUMBER(regs);
	if (number < 0)
		return waits_for_io || (now & TASK_UNINTERRUPTIBLE) ? STATE_BLOCKED_PAGEIN
								    : STATE_BLOCKED_OTHER;
	if (waits_for_io)
		return STATE_BLOCKED_DISK;
	state = state_of_syscall(task, regs, (u32)number);
	/* Not to be disturbed, for no disk: a mutex, a semaphore or another thread of the kernel's.
	 */
	if (state == STATE_BLOCKED_OTHER && (now & TASK_UNINTERRUPTIBLE))
		return STATE_BLOCKED_KERNEL_LOCK;
	return state;
}

#endif
