// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * Reading, writing, opening and syncing of files, at the ends of these system calls. Tier B's
 * programs at the same hooks come first: when a call began and ended is in the thread's account.
 *
 * Which file it is, is looked at when the call begins: a number may be another file's when it ends.
 */
#include "../../bpf/common.bpf.h"

#include "files.h"

#define ERRNO_MAX   4095
#define MODE_FILE   0100000
#define MODE_FOLDER 0040000
#define MODE_BLOCK  0060000
#define VECTORS_MAX 8 /* places of a list that are looked at */
#define PLACES_MAX  8 /* that a thread remembers; 2^n */

/* The call that is under way; and where the last ones were counted, where the next may be, too. */
struct files_task {
	u64 call_ns; /* when it began; 0: there is none, or it is of no file */
	u64 object;
	u64 asked;
	u32 fd;
	u32 places[PLACES_MAX]; /* by what is done to which number */
	struct slow_mark mark;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct files_task);
} files_tasks SEC(".maps");

/* enum files_op, and flags, by a call's number: user space fills it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FILES_CALLS);
	__type(key, u32);
	__type(value, u32);
} files_ops SEC(".maps");

static __always_inline u32 op_of_number(u32 number)
{
	u32 *op = bpf_map_lookup_elem(&files_ops, &number);

	return op ? *op : FILES_NONE;
}

/* Those of 32-bit programs are numbered otherwise, and are not looked at. */
static __always_inline u32 op_of(u32 call)
{
	return op_of_number(call - 1);
}

static __always_inline bool is_file(const struct object *object)
{
	return object->mode == MODE_FILE || object->mode == MODE_FOLDER ||
	       object->mode == MODE_BLOCK;
}

struct vector {
	u64 base;
	u64 bytes;
};

static __always_inline u64 vector_bytes(u64 list, u64 count)
{
	struct vector vector;
	u64 sum = 0;

	for (u32 i = 0; i < VECTORS_MAX && i < count; i++) {
		if (bpf_probe_read_user(&vector, sizeof(vector),
					(void *)(list + i * sizeof(vector))))
			break;
		sum += vector.bytes;
	}
	return sum;
}

static __always_inline u64 asked_bytes(struct pt_regs *regs, u32 op)
{
	if ((u8)op != FILES_READ && (u8)op != FILES_WRITE)
		return 0;
	return op & FILES_VECTOR ? vector_bytes(PT_REGS_PARM2(regs), PT_REGS_PARM3(regs))
				 : PT_REGS_PARM3(regs);
}

/* A call of another kind begins: if there is one under way, its end was not seen. */
static __always_inline void forget(struct task_struct *task)
{
	struct files_task *call = bpf_task_storage_get(&files_tasks, task, NULL, 0);

	if (call)
		call->call_ns = 0;
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(files_enter, struct pt_regs *regs, long number)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct ledger_task *account;
	struct object object = {};
	struct files_task *call;
	u32 op, fd;

	/* Most calls are of no file, and cost no look-up of the thread. */
	if (!op_of_number((u32)number))
		return 0;
	account = account_of(task);
	if (!account || !account->call_ns)
		return 0;
	op = op_of(account->call);
	if (!op)
		return 0;
	fd = (u32)PT_REGS_PARM1(regs);
	if ((u8)op != FILES_OPEN) {
		if (!object_of_fd(task, fd, &object) || !is_file(&object)) {
			forget(task);
			return 0;
		}
		object_identify(&object);
	}
	call = bpf_task_storage_get(&files_tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!call) {
		EMIT_LOSE(FILES, no_storage);
		return 0;
	}
	call->call_ns = account->call_ns;
	call->object = object.id;
	call->fd = fd;
	call->asked = asked_bytes(regs, op);
	slow_mark(account, &call->mark);
	return 0;
}

/* --- the end --- */

/* Only a file that has a place of its own is named: there may be more files than names. */
static __always_inline void send_name(struct task_struct *task, u32 fd, u64 id)
{
	struct object object = {};

	if (!object_of_fd(task, fd, &object))
		return;
	object_identify(&object);
	if (object.id == id)
		object_send(task, &object);
}

/* Where it was counted the last time is likely right, and known without a search. */
static __always_inline u32 find(struct task_struct *task, struct files_task *call,
				struct series_key *key)
{
	u64 place = call->fd ^ (u64)key->detail << 1 ^ key->more;
	u32 slot;

	ledger_bound(place, PLACES_MAX - 1);
	slot = call->places[place];
	if (series_is_at(key, slot))
		return slot;
	slot = series_find(key);
	call->places[place] = slot;
	/* Its own, or its command's. */
	if (call->object && series_has_object(slot, call->object))
		send_name(task, call->fd, call->object);
	return slot;
}

static __always_inline void add(u32 slot, u64 ns, u64 asked, u64 returned)
{
	struct series_stripe *stripe = series_stripe_of(slot);

	if (!stripe)
		return;
	stripe_add(stripe, ns, series_bucket_of(ns), 1);
	if (asked)
		__sync_fetch_and_add(&stripe->sums[FILES_ASKED], asked);
	if (returned)
		__sync_fetch_and_add(&stripe->sums[FILES_RETURNED], returned);
}

static __always_inline void tell_slow(void *ctx, struct task_struct *task,
				      const struct ledger_task *account, struct files_task *call,
				      const struct series_key *key, u64 ns, u64 returned)
{
	struct stack_wish wish = {
		.context = STACK_RESUME,
		.tgid = account->tgid,
		.kind = SAMPLE_BLOCKED,
		.has_user = true,
	};
	struct slow_event event = {.ns = ns, .begin = &call->mark};
	struct slow_mark end;
	u64 disk_ns, queue_ns, service_ns;
	u32 stop;

	slow_mark(account, &end);
	event.end = &end;
	disk_ns = end.part[SLOW_PART_DISK] - call->mark.part[SLOW_PART_DISK];
	if (SIGNAL_IS_ON(BLOCK_IO)) {
		disk_wait_split(account->tid, call->call_ns, disk_ns, &queue_ns, &service_ns);
		end.part[SLOW_PART_DISK] -= queue_ns + service_ns;
		end.part[SLOW_PART_DISK_QUEUE] += queue_ns;
		end.part[SLOW_PART_DISK_SERVICE] += service_ns;
	}
	event.value[0] = call->asked;
	event.value[1] = returned;
	event.stack = stack_take(ctx, &wish, &stop);
	slow_send(task, key, &event);
}

/* The file that was opened; false: it is none that is looked at. */
static __always_inline bool take_opened(struct task_struct *task, struct files_task *call, u32 fd)
{
	struct object object = {};

	if (!object_of_fd(task, fd, &object) || !is_file(&object))
		return false;
	object_identify(&object);
	call->object = object.id;
	call->fd = fd;
	return true;
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(files_exit, struct pt_regs *regs, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct series_key key = {.signal = SIG_FILES};
	u64 ns, returned = result > 0 ? result : 0;
	struct ledger_task *account;
	struct files_task *call;
	u32 op;

	if (!op_of_number((u32)CALL_NUMBER(regs)))
		return 0;
	account = account_of(task);
	/* One that Tier B has left has no end. */
	op = account && ledger_is_split(account) ? (u8)op_of(account->call) : FILES_NONE;
	if (!op || !account->call_done_ns)
		return 0;
	call = bpf_task_storage_get(&files_tasks, task, NULL, 0);
	if (!call || !call->call_ns)
		return 0;
	ns = account->call_done_ns; /* since then the thread may have waited for its CPU */
	if (op == FILES_OPEN && result >= 0 && !take_opened(task, call, (u32)result)) {
		call->call_ns = 0;
		return 0;
	}
	series_of(&key, account);
	key.detail = (u16)(op - 1);
	key.object = call->object;
	key.more = result < 0 && result >= -ERRNO_MAX ? -result : 0;
	if (op != FILES_READ && op != FILES_WRITE)
		returned = 0; /* no bytes: a number of a file, or of those of a list */
	/* Of a long list of buffers not all were looked at: it was this much, or more. */
	if (returned > call->asked)
		call->asked = returned;
	add(find(task, call, &key), ns, key.more ? 0 : call->asked, returned);
	if (slow_is_told(SIG_FILES, ns))
		tell_slow(ctx, task, account, call, &key, ns, returned);
	call->call_ns = 0;
	return 0;
}
