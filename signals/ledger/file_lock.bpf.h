/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Who holds the lock on a file that a thread is about to wait for: the kernel keeps those that are
 * held in lists of the inode, with the process that took each.
 */
#ifndef DWELL_LEDGER_FILE_LOCK_BPF_H
#define DWELL_LEDGER_FILE_LOCK_BPF_H

#define FILE_LOCKS_MAX 4 /* of the list, that are looked at */

/* Operations that wait, of flock() and of fcntl(): no number means two things. */
#define FLOCK_SHARED	1
#define FLOCK_EXCLUSIVE 2
#define FCNTL_SETLKW	7
#define FCNTL_SETLKW64	14
#define FCNTL_OFD_WAIT	38

static __always_inline u32 file_lock_type(u32 operation)
{
	switch (operation) {
	case FLOCK_SHARED:
	case FLOCK_EXCLUSIVE:
		return LOCK_FLOCK;
	case FCNTL_SETLKW:
	case FCNTL_SETLKW64:
		return LOCK_POSIX;
	case FCNTL_OFD_WAIT:
		return LOCK_OFD;
	}
	return LOCK_FILE;
}

/* The one whose place in a list of locks this is: its owner's process. From 6.9 in a core of it. */
static __always_inline u32 file_lock_pid(struct list_head *link)
{
	struct file_lock_core___new *core;
	struct file_lock___old *lock;

	if (bpf_core_type_exists(struct file_lock_core___new)) {
		core = (void *)link - bpf_core_field_offset(struct file_lock_core___new, flc_list);
		return (u32)BPF_CORE_READ(core, flc_pid);
	}
	lock = (void *)link - bpf_core_field_offset(struct file_lock___old, fl_list);
	return BPF_CORE_READ(lock, fl_pid);
}

static __always_inline struct list_head *file_lock_list(struct file_lock_context *context,
							bool is_flock)
{
	if (is_flock)
		return __builtin_preserve_access_index(&context->flc_flock);
	return __builtin_preserve_access_index(&context->flc_posix);
}

/*
 * The process of the first lock there that is not the waiter's own; its own, if all are; 0: not
 * known. Of locks on parts of a file, it may be another part's. It is numbered as the first pid
 * namespace does: in another one that says nothing.
 */
static __always_inline u32 file_lock_holder(struct inode *inode, u32 type, u32 own)
{
	struct file_lock_context *context = BPF_CORE_READ(inode, i_flctx);
	struct list_head *head, *link;
	u32 pid = 0;

	if (!context || cfg_pidns_inum != PIDNS_INIT_INUM)
		return 0;
	head = file_lock_list(context, type == LOCK_FLOCK);
	link = BPF_CORE_READ(head, next);
	for (u32 i = 0; i < FILE_LOCKS_MAX && link && link != head; i++) {
		pid = file_lock_pid(link);
		if (pid != own)
			break;
		link = BPF_CORE_READ(link, next);
	}
	return pid;
}

#endif
