/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Why a thread is blocked, found at its switch-out from what the kernel has saved of it: the
 * registers name the syscall and its file. No syscall hook is needed.
 */
#ifndef DWELL_LEDGER_BLOCKED_BPF_H
#define DWELL_LEDGER_BLOCKED_BPF_H

#include "file_lock.bpf.h"
#include "waits.h"

#define TASK_UNINTERRUPTIBLE 0x02
#define TASK_STOPPED	     0x04 /* __TASK_STOPPED */
#define TASK_TRACED	     0x08 /* __TASK_TRACED */
#define TASK_DEAD	     0x80
#define TASK_WAKING	     0x200 /* another CPU is about to enqueue it */

#define FUTEX_COMMAND	  0x7f
#define FUTEX_WAIT	  0
#define FUTEX_WAIT_BITSET 9 /* with a time limit, as Rust and timed locks do */
#define FUTEX_LOCK_PI	  6
#define FUTEX_LOCK_PI2	  13
#define FUTEX_TID_MASK	  0x3fffffff
#define MUTEX_CONTENDED	  2 /* the futex word of a glibc mutex that somebody waits for */
#define MUTEX_OWNER_AT	  8 /* and where that has its owner's tid */

/* What a syscall waits for, by its number: user space fills it from names. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WAITS_LIMIT);
	__type(key, u32);
	__type(value, u32);
} ledger_waits SEC(".maps");

/* The first arguments and the number, in whichever way the call came. */
struct call {
	u64 first, second, third;
	s64 number;
	u32 is_compat;
};

/*
 * The registers with which a task entered the kernel. Without the helper (before 5.15) they are
 * where x86 has them: at the very top of the task's stack.
 */
static __always_inline bool read_call(struct task_struct *task, struct call *call)
{
	struct pt_regs *regs;
#if defined(__TARGET_ARCH_x86)
	struct pt_regs copy;

	call->is_compat = (task->thread_info.status & TS_COMPAT) != 0;
	if (cfg_task_regs) {
		regs = (struct pt_regs *)bpf_task_pt_regs(task);
		call->number = (s64)regs->orig_ax;
		call->first = call->is_compat ? (u32)regs->bx : regs->di;
		call->second = call->is_compat ? (u32)regs->cx : regs->si;
		call->third = regs->dx;
		return true;
	}
	if (bpf_probe_read_kernel(&copy, sizeof(copy),
				  task->stack + KERNEL_STACK_BYTES - sizeof(struct cpu_regs)))
		return false;
	call->number = (s64)copy.orig_ax;
	call->first = call->is_compat ? (u32)copy.bx : copy.di;
	call->second = call->is_compat ? (u32)copy.cx : copy.si;
	call->third = copy.dx;
	return true;
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

static __always_inline u32 state_of_object(u32 mode)
{
	switch (mode) {
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

/*
 * A futex is a lock if it is waited for while its word says that a lock has waiters, as glibc and
 * Rust have it; others are conditions, joins, semaphores. The value that the caller expects tells,
 * not the word, which may have changed by now. glibc keeps the owner beside it; memory can be read
 * of the thread that runs here alone.
 */
static __always_inline void judge_futex(struct wait *wait, const struct call *call, bool is_here)
{
	u32 command = call->second & FUTEX_COMMAND;
	bool is_pi = command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2;
	u64 owner_at = call->first + (is_pi ? 0 : MUTEX_OWNER_AT);
	u32 owner = 0;

	wait->object = call->first;
	wait->state = STATE_BLOCKED_IDLE;
	wait->lock = LOCK_CONDITION;
	if (!is_pi && ((command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET) ||
		       (u32)call->third != MUTEX_CONTENDED))
		return;
	wait->state = STATE_BLOCKED_LOCK;
	wait->lock = is_pi ? LOCK_PI : LOCK_FUTEX;
	if (is_here)
		bpf_probe_read_user(&owner, sizeof(owner), (void *)owner_at);
	owner &= FUTEX_TID_MASK;
	if (owner <= PID_LIMIT)
		wait->holder = owner;
}

static __always_inline void judge_file(struct task_struct *task, struct wait *wait, u32 kind,
				       u32 fd, struct object *object)
{
	struct live_config *live = live_config();

	if (!object_of_fd(task, fd, object))
		return;
	if (kind == WAIT_FILE)
		wait->state = state_of_object(object->mode);
	if (!live || live->no_detail) {
		object->file = NULL;
		return;
	}
	object_identify(object);
	wait->object = object->id;
	if (kind == WAIT_FILE_LOCK)
		wait->holder = file_lock_holder(object->inode, wait->lock, (u32)task->tgid);
}

static __always_inline void judge_syscall(struct task_struct *task, struct wait *wait,
					  const struct call *call, struct object *object,
					  bool is_here)
{
	u32 key = (u32)call->number + (call->is_compat ? WAITS_COMPAT : 0);
	u32 *known = bpf_map_lookup_elem(&ledger_waits, &key);
	u32 kind = known ? *known : (u32)WAIT_OTHER;

	wait->call = (u32)(call->number + 1) | (call->is_compat ? CALL_COMPAT : 0);
	switch (kind) {
	case WAIT_SLEEP:
		wait->state = STATE_BLOCKED_SLEEP;
		break;
	case WAIT_POLL:
		wait->state = STATE_BLOCKED_POLL;
		break;
	case WAIT_IDLE:
		wait->state = STATE_BLOCKED_IDLE;
		break;
	case WAIT_CHILD:
		wait->state = STATE_BLOCKED_CHILD;
		break;
	case WAIT_NET:
		wait->state = STATE_BLOCKED_NET;
		break;
	case WAIT_ACCEPT:
		wait->state = STATE_BLOCKED_IDLE;
		break;
	case WAIT_DISK:
	case WAIT_SYNC:
		wait->state = STATE_BLOCKED_DISK;
		break;
	case WAIT_FUTEX:
		judge_futex(wait, call, is_here);
		break;
	case WAIT_FILE_LOCK:
		wait->state = STATE_BLOCKED_LOCK;
		wait->lock = file_lock_type((u32)call->second);
		break;
	case WAIT_RESUMED:
		wait->state = STATE_BLOCKED_SLEEP; /* unless more is known of it */
		wait->is_resumed = 1;
		break;
	}
	if (kind == WAIT_FILE || kind == WAIT_NET || kind == WAIT_ACCEPT || kind == WAIT_SYNC ||
	    kind == WAIT_FILE_LOCK) {
		/* Or the verifier walks through all that follows once for each kind. */
		u64 unknown = task->start_time;

		wait->state = ledger_forget(wait->state, unknown);
		wait->lock = ledger_forget(wait->lock, unknown);
		wait->call = ledger_forget(wait->call, unknown);
		judge_file(task, wait, (u32)ledger_forget(kind, unknown),
			   (u32)ledger_forget(call->first, unknown), object);
	}
}

static __always_inline void look_at_task(struct task_struct *task, struct wait *wait,
					 struct object *object, bool is_here)
{
	bool waits_for_io = BPF_CORE_READ_BITFIELD(task, in_iowait);
	u64 now = task_state(task);
	struct call call;

	wait->state = STATE_BLOCKED_OTHER;
	/* Their registers are nobody's, or their parent's. */
	if (task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)) {
		if (waits_for_io)
			wait->state = STATE_BLOCKED_DISK;
		return;
	}
	if (now & (TASK_STOPPED | TASK_TRACED)) {
		wait->state = STATE_BLOCKED_STOPPED;
		return;
	}
	if (!read_call(task, &call)) {
		if (waits_for_io)
			wait->state = STATE_BLOCKED_DISK;
		return;
	}
	if (call.number < 0) {
		if (waits_for_io || (now & TASK_UNINTERRUPTIBLE))
			wait->state = STATE_BLOCKED_PAGEIN;
		return;
	}
	judge_syscall(task, wait, &call, object, is_here);
	/* io_uring says so of whatever it waits for. */
	if (waits_for_io && wait->state != STATE_BLOCKED_POLL) {
		wait->state = STATE_BLOCKED_DISK;
	} else if (wait->state == STATE_BLOCKED_OTHER && (now & TASK_UNINTERRUPTIBLE)) {
		/* Not to be disturbed, for no disk: a mutex or another thread of the kernel's. */
		wait->state = STATE_BLOCKED_KERNEL_LOCK;
	}
}

/*
 * Whether it sleeps for a lock inside the kernel, whatever the call was for: the kernel says so
 * itself, or the signal of locks saw it begin. Else such a wait counts as what the call is for.
 */
static __always_inline bool waits_for_kernel_lock(struct task_struct *task,
						  const struct ledger_task *account)
{
	struct task_struct___blocker *told = (void *)task;

	if (bpf_core_field_exists(told->blocker) && told->blocker)
		return true;
	return account && account->lock.kernel_lock;
}

/*
 * Fills wait, and object with what it is for; object->file is NULL if that is no file. account: of
 * a task that is just leaving this CPU; NULL: it is elsewhere.
 */
static __always_inline void judge_block(struct task_struct *task, struct wait *wait,
					struct object *object, const struct ledger_task *account)
{
	u64 unknown = task->start_time;

	look_at_task(task, wait, object, account != NULL);
	if (waits_for_kernel_lock(task, account)) {
		wait->state = STATE_BLOCKED_KERNEL_LOCK;
		wait->object = object->file ? object->id : 0; /* a futex is another lock */
		wait->holder = wait->lock = wait->is_resumed = 0;
	}
	wait->state = ledger_forget(wait->state, unknown);
	wait->call = ledger_forget(wait->call, unknown);
	wait->holder = ledger_forget(wait->holder, unknown);
	wait->lock = ledger_forget(wait->lock, unknown);
	wait->object = ledger_forget(wait->object, unknown);
	wait->is_resumed = ledger_forget(wait->is_resumed, unknown);
	object->id = ledger_forget(object->id, unknown);
	object->file = (struct file *)ledger_forget((u64)object->file, unknown);
	object->inode = (struct inode *)ledger_forget((u64)object->inode, unknown);
	object->sock = (struct sock *)ledger_forget((u64)object->sock, unknown);
	object->mode = ledger_forget(object->mode, unknown);
}

#endif
