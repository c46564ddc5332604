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

/* What a wait for a file that is no socket is for, by the kind of the file. */
static __always_inline void judge_mode(struct wait *wait, u32 mode)
{
	switch (mode) {
	case MODE_FIFO:
	case MODE_CHAR:
		wait->state = STATE_BLOCKED_PIPE;
		break;
	case 0: /* an event, a timer, a signal file: no disk behind it */
		wait->state = STATE_BLOCKED_POLL;
		wait->ends = ENDS_BY_POLL;
		break;
	default:
		wait->state = STATE_BLOCKED_DISK;
	}
}

/*
 * A futex is a lock if it is waited for while its word says that a lock has waiters, as glibc and
 * Rust have it; others are conditions, joins, semaphores, and their end tells. The value that the
 * caller expects tells, not the word, which may have changed by now. glibc keeps the owner beside
 * it; memory can be read of the thread that runs here alone.
 */
static __always_inline void judge_futex(struct wait *wait, const struct call *call, bool is_here)
{
	u32 command = call->second & FUTEX_COMMAND;
	bool is_pi = command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2;
	u64 owner_at = call->first + (is_pi ? 0 : MUTEX_OWNER_AT);
	u32 owner = 0;

	/* A condition of glibc's has two words side by side, which take turns. */
	wait->object = call->first & ~7ULL;
	wait->state = STATE_BLOCKED_SIGNALLED;
	wait->lock = LOCK_CONDITION;
	wait->ends = ENDS_BY_FUTEX;
	if (!is_pi && ((command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET) ||
		       (u32)call->third != MUTEX_CONTENDED))
		return;
	wait->object = call->first;
	wait->state = STATE_BLOCKED_LOCK;
	wait->lock = is_pi ? LOCK_PI : LOCK_FUTEX;
	wait->ends = ENDS_IN_TIME;
	if (is_here)
		bpf_probe_read_user(&owner, sizeof(owner), (void *)owner_at);
	owner &= FUTEX_TID_MASK;
	if (owner <= PID_LIMIT)
		wait->holder = owner;
}

/* Data is waited for, or room to send. */
static __always_inline void judge_socket(struct wait *wait, struct object *object, u32 kind)
{
	u64 sk = (u64)object->sock, found = socket_judge(sk);
	bool is_inet = (found & SOCKET_INET) != 0;
	u32 state = found & SOCKET_STATE;

	object->is_served = (found & SOCKET_SERVED) != 0;
	if (kind == WAIT_SEND || kind == WAIT_FILE_OUT) {
		state = is_inet ? STATE_BLOCKED_NET : STATE_BLOCKED_IPC;
		object->is_served = false;
	}
	wait->net_state = state;
	if (kind != WAIT_POLL_LIST) {
		wait->state = state ? state : (u32)STATE_BLOCKED_OTHER;
		wait->ends = ENDS_IN_TIME;
	}
	if (!is_inet)
		return;
	object->id = socket_object(sk, object->is_served);
	if ((found & SOCKET_STREAM) && !object->is_served)
		wait->is_held_back = (u32)socket_is_held_back(sk);
}

static __always_inline void judge_file(struct task_struct *task, struct wait *wait, u32 kind,
				       u32 fd, struct object *object)
{
	struct live_config *live = live_config();

	if (!object_of_fd(task, fd, object))
		return;
	if ((kind == WAIT_FILE || kind == WAIT_FILE_OUT) && object->mode != MODE_SOCKET)
		judge_mode(wait, object->mode);
	object_identify(object);
	if (object->sock)
		judge_socket(wait, object, kind);
	if (!live || live->no_detail) {
		object->file = NULL;
		return;
	}
	wait->object = object->id;
	if (kind == WAIT_FILE_LOCK)
		wait->holder = file_lock_holder(object->inode, wait->lock, (u32)task->tgid);
}

struct poll_entry {
	s32 fd;
	u32 events;
};

/* A poll of one file is a wait for that. True if it is such; then it is the call's file. */
static __always_inline bool is_poll_of_one(struct call *call, bool is_here)
{
	struct poll_entry entry;

	if (!is_here || call->second != 1 ||
	    bpf_probe_read_user(&entry, sizeof(entry), (void *)call->first) || entry.fd < 0)
		return false;
	call->first = (u32)entry.fd;
	return true;
}

static __always_inline bool has_file(u32 kind)
{
	switch (kind) {
	case WAIT_FILE:
	case WAIT_FILE_OUT:
	case WAIT_NET:
	case WAIT_SEND:
	case WAIT_ACCEPT:
	case WAIT_SYNC:
	case WAIT_FILE_LOCK:
	case WAIT_POLL_LIST:
		return true;
	}
	return false;
}

static __always_inline void judge_syscall(struct task_struct *task, struct wait *wait,
					  struct call *call, struct object *object, bool is_here)
{
	u32 key = (u32)call->number + (call->is_compat ? WAITS_COMPAT : 0);
	u32 *known = bpf_map_lookup_elem(&ledger_waits, &key);
	u32 kind = known ? *known : (u32)WAIT_OTHER;

	wait->call = (u32)(call->number + 1) | (call->is_compat ? CALL_COMPAT : 0);
	switch (kind) {
	case WAIT_SLEEP:
		wait->state = STATE_BLOCKED_SLEEP;
		break;
	case WAIT_POLL_LIST:
		if (!is_poll_of_one(call, is_here))
			kind = WAIT_POLL;
		/* fall through */
	case WAIT_POLL:
		wait->state = STATE_BLOCKED_POLL;
		wait->ends = ENDS_BY_POLL;
		break;
	case WAIT_IDLE:
		wait->state = STATE_BLOCKED_IDLE;
		wait->ends = ENDS_IN_TIME;
		break;
	case WAIT_IPC:
		wait->state = STATE_BLOCKED_IPC;
		wait->ends = ENDS_BY_FUTEX;
		break;
	case WAIT_CHILD:
		wait->state = STATE_BLOCKED_CHILD;
		break;
	case WAIT_NET:
	case WAIT_SEND:
		wait->state = STATE_BLOCKED_NET;
		wait->ends = ENDS_IN_TIME;
		break;
	case WAIT_ACCEPT:
		wait->state = STATE_BLOCKED_IDLE;
		wait->ends = ENDS_IN_TIME;
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
	if (has_file(kind)) {
		/* Or the verifier walks through all that follows once for each kind. */
		u64 unknown = task->start_time;

		wait->state = ledger_forget(wait->state, unknown);
		wait->ends = ledger_forget(wait->ends, unknown);
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
	if (call.number < 0) { /* a page fault */
		if (waits_for_io)
			wait->state = STATE_BLOCKED_PAGEIN;
		else if (now & TASK_UNINTERRUPTIBLE)
			wait->state = STATE_BLOCKED_KERNEL_LOCK;
		return;
	}
	judge_syscall(task, wait, &call, object, is_here);
	/* io_uring says so of whatever it waits for. */
	if (waits_for_io && wait->state != STATE_BLOCKED_POLL) {
		wait->state = STATE_BLOCKED_DISK;
		wait->ends = ENDS_AS_BEGUN;
	} else if (wait->state == STATE_BLOCKED_OTHER && (now & TASK_UNINTERRUPTIBLE)) {
		/* Not to be disturbed, for no disk: a mutex or another thread of the kernel's. */
		wait->state = STATE_BLOCKED_KERNEL_LOCK;
	}
}

#define OWNER_FLAGS	 7ULL /* of a lock's owner */
#define MMAP_LOCK_OBJECT 1    /* mixed with the address of the memory map */

/* The thread that has a lock of the kernel's, or had it last; 0: not known. */
static __always_inline u32 kernel_lock_owner(u64 blocker)
{
	u64 lock = blocker & ~BLOCKER_TYPE, owner;

	if ((blocker & BLOCKER_TYPE) == BLOCKER_SEM)
		return 0;
	if ((blocker & BLOCKER_TYPE) == BLOCKER_MUTEX)
		owner = (u64)BPF_CORE_READ((struct mutex *)lock, owner.counter);
	else
		owner = (u64)BPF_CORE_READ((struct rw_semaphore *)lock, owner.counter);
	owner &= ~OWNER_FLAGS;
	return owner ? task_inner_tid((struct task_struct *)owner) : 0;
}

/*
 * Sleeps for a lock inside the kernel, whatever the call was for: the kernel says so itself (from
 * 6.16 on, of some kinds), or it was seen to begin (from 5.19 on). Else such a wait counts as what
 * the call is for.
 */
static __always_inline void judge_kernel_lock(struct task_struct *task, struct wait *wait,
					      struct object *object,
					      const struct ledger_task *account)
{
	struct task_struct___blocker *told = (void *)task;
	u64 blocker = bpf_core_field_exists(told->blocker) ? told->blocker : 0;
	u64 mm;

	if (!blocker && account)
		blocker = account->blocker;
	if (!blocker && !(account && account->lock.kernel_lock))
		return;
	wait->state = STATE_BLOCKED_KERNEL_LOCK;
	wait->ends = ENDS_AS_BEGUN;
	wait->holder = wait->lock = wait->is_resumed = wait->is_held_back = 0;
	wait->object = object->file ? object->id : 0; /* a futex is another lock */
	if (!blocker)
		return;
	mm = (u64)BPF_CORE_READ(task, mm);
	wait->holder = kernel_lock_owner(blocker);
	if (mm &&
	    (blocker & ~BLOCKER_TYPE) == mm + bpf_core_field_offset(struct mm_struct, mmap_lock)) {
		object->file = NULL;
		object->mmap_lock = object_mix(mm, MMAP_LOCK_OBJECT);
		wait->object = object->mmap_lock;
	}
}

/* It waits for memory itself: reclaim, or a limit of its cgroup. The kernel accounts for it so. */
static __always_inline void judge_memory(struct task_struct *task, struct wait *wait)
{
	struct task_struct___memstall *stalled = (void *)task;

	if (!(task_state(task) & TASK_UNINTERRUPTIBLE) ||
	    !bpf_core_field_exists(stalled->in_memstall) ||
	    !BPF_CORE_READ_BITFIELD(stalled, in_memstall) ||
	    BPF_CORE_READ_BITFIELD(task, in_iowait))
		return;
	wait->state = STATE_BLOCKED_MEMORY;
	wait->ends = ENDS_AS_BEGUN;
	wait->object = 0;
	wait->holder = wait->lock = wait->is_resumed = wait->is_held_back = 0;
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
	judge_kernel_lock(task, wait, object, account);
	judge_memory(task, wait);
	wait->state = ledger_forget(wait->state, unknown);
	wait->ends = ledger_forget(wait->ends, unknown);
	wait->net_state = ledger_forget(wait->net_state, unknown);
	wait->is_held_back = ledger_forget(wait->is_held_back, unknown);
	wait->call = ledger_forget(wait->call, unknown);
	wait->holder = ledger_forget(wait->holder, unknown);
	wait->lock = ledger_forget(wait->lock, unknown);
	wait->object = ledger_forget(wait->object, unknown);
	wait->is_resumed = ledger_forget(wait->is_resumed, unknown);
	object->id = ledger_forget(object->id, unknown);
	object->file = (struct file *)ledger_forget((u64)object->file, unknown);
	object->inode = (struct inode *)ledger_forget((u64)object->inode, unknown);
	object->sock = (struct sock *)ledger_forget((u64)object->sock, unknown);
	object->mmap_lock = ledger_forget(object->mmap_lock, unknown);
	object->mode = ledger_forget(object->mode, unknown);
	object->is_served = ledger_forget(object->is_served, unknown);
}

#endif
