// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * Locks of programs, by their futexes, and of files: which one was waited for, for how long, where,
 * and what its holder did meanwhile. The ledger's programs at these hooks come first: they have
 * found out what each wait is for. Stacks are counted by samples, which take them (lock.bpf.h).
 */
#include "../../bpf/common.bpf.h"
#include "held.bpf.h"
#include "herd.bpf.h"
#include "kernel.bpf.h"

#define LOCKS_TOLD_MAX	  8192	/* locks whose address was told; a power of two */
#define LOCKS_WAITERS_MAX 16384 /* threads and what they waited for; likewise */
#define LOCKS_LONG_NS	  1000000

/* One place for each, by hash: another one that belongs there takes it, and is told again. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LOCKS_TOLD_MAX);
	__type(key, u32);
	__type(value, u64);
} locks_told SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LOCKS_WAITERS_MAX);
	__type(key, u32);
	__type(value, u64);
} locks_waiters SEC(".maps");

/* --- who and what --- */

/*
 * So that it gets a name; once more when the process's mappings have become known. True if it was
 * known before.
 */
static __always_inline bool tell_lock(struct task_struct *task, const struct series_key *key,
				      u64 address)
{
	u64 lock = key->object;
	u32 tgid = key->tgid, place = (u32)lock & (LOCKS_TOLD_MAX - 1);
	struct unwind_process *process = bpf_map_lookup_elem(&unwind_processes, &tgid);
	u64 *told = bpf_map_lookup_elem(&locks_told, &place);
	u32 generation = process && key->detail < LOCK_SPIN ? process->generation : 0;
	u64 mark = lock << 1 | (generation != 0);
	struct rec_locks *rec;
	bool is_known;

	if (!told || *told == mark)
		return told != NULL;
	is_known = (*told | 1) == (mark | 1);
	rec = EMIT_RESERVE(LOCKS, locks, task);
	if (!rec)
		return is_known; /* counted; the next one who waits for it tries again */
	rec->lock = lock;
	rec->address = address;
	rec->generation = generation;
	rec->type = key->detail;
	EMIT_SUBMIT(rec);
	*told = mark;
	return is_known;
}

/* A thread that had not waited for this one yet, as far as is remembered. */
static __always_inline void count_waiter(const struct ledger_task *account, struct series_key *key)
{
	u64 mark = object_mix(key->object, (u64)account->tid << 32 | (u32)account->thread_start_ns);
	u32 place = (u32)(mark >> 20) & (LOCKS_WAITERS_MAX - 1);
	u64 *known = bpf_map_lookup_elem(&locks_waiters, &place);

	if (!known || *known == mark)
		return;
	*known = mark;
	key->kind = LOCKS_WAITER;
	series_add(series_find(key), 1);
}

/* --- a wait is over --- */

static __always_inline void count_held(const struct lock_watch *watch, struct series_key *key)
{
	if (!watch->held_ns)
		return;
	key->kind = LOCKS_HELD;
	series_add(series_find(key), watch->held_ns);
	if (watch->held_queue_ns) {
		key->kind = LOCKS_HELD_QUEUE;
		series_add(series_find(key), watch->held_queue_ns);
	}
	if (watch->held_block_ns) {
		key->kind = LOCKS_HELD_BLOCK;
		series_add(series_find(key), watch->held_block_ns);
	}
}

/* Places are few. A lock that was waited for once, and not for long, takes one, not six. */
static __always_inline void count_wait(struct task_struct *task, struct ledger_task *account,
				       bool is_late)
{
	const struct ledger_over *over = &account->over;
	struct series_key key = {};
	u32 slot;

	lock_wait_key(&key, account);
	slot = series_find(&key);
	series_add(slot, over->block_ns);
	if (is_late) /* others are told with their stacks, which samples take */
		lock_tell_slow(task, account, &key, over->block_ns, 0);
	if (!lock_has_place(slot))
		return;
	if (lock_is_futex(over->lock) && !tell_lock(task, &key, over->object) &&
	    over->block_ns < LOCKS_LONG_NS)
		return;
	count_waiter(account, &key);
	count_held(&account->lock, &key);
}

/* Of a thread that has a CPU again; or had got it unseen, and leaves it now. */
static __noinline int end_wait(struct task_struct *task, struct ledger_task *account, bool is_late)
{
	const struct ledger_over *over = &account->over;

	if (!over->block_ns || over->block_state != STATE_BLOCKED_LOCK)
		return 0;
	count_wait(task, account, is_late);
	account->lock.held_ns = 0;
	return 0;
}

/* --- locks of the kernel's, whose waits were left here --- */

/*
 * One of them. A function that the verifier checks by itself, once: so a loop around it costs
 * nothing to load. At a switch the current thread is still the one that leaves.
 */
int locks_count_kernel_wait(u32 place)
{
	struct kernel_waits *here = kernel_waits_here();
	struct series_key key = {.signal = SIG_LOCKS, .kind = LOCKS_KERNEL_WAIT};
	const struct kernel_wait *wait;
	u64 index = place;
	u32 slot;

	if (!here)
		return 0;
	ledger_bound(index, KERNEL_WAITS_MAX - 1);
	wait = &here->waits[index];
	key.start_ns = wait->start_ns;
	key.tgid = wait->tgid;
	key.detail = (u16)wait->type;
	key.object = object_mix(wait->lock, 0);
	slot = series_find(&key);
	series_add(slot, wait->ns);
	if (lock_has_place(slot))
		tell_lock(current_task(), &key, wait->lock);
	return 0;
}

static __always_inline void count_kernel_waits(struct kernel_waits *here)
{
	for (u32 i = 0; i < KERNEL_WAITS_MAX && i < here->count; i++)
		locks_count_kernel_wait(i);
	here->count = 0;
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(locks_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct ledger_task *comes = next->pid ? account_of(next) : NULL;
	struct ledger_task *late = account_of_late(prev);
	struct kernel_waits *here = kernel_waits_here();
	struct herd *herd = herd_here();

	if (here && here->count)
		count_kernel_waits(here);
	if (herd && herd->count && herd_end(herd) && herd->key.detail <= LOCK_CONDITION)
		tell_lock(prev, &herd->key, herd->address);
	if (late)
		end_wait(prev, late, true);
	if (comes)
		end_wait(next, comes, false);
	return 0;
}

SEC("?tp_btf/sched_waking")
int BPF_PROG(locks_waking, struct task_struct *task)
{
	struct ledger_task *account = account_of(task);
	struct ledger_task *holder;
	bool is_condition;

	if (!account || account->waker_kind != WAKER_THREAD)
		return 0;
	is_condition = account->wait_lock == LOCK_CONDITION;
	if (account->state != STATE_BLOCKED_LOCK &&
	    !(is_condition && ledger_is_blocked(account->state)))
		return 0;
	herd_note(account, lock_id(account->wait_lock, account->wait_object, account));
	holder = is_condition ? NULL : account_of_current();
	if (holder && holder != account)
		held_judge(account, holder);
	return 0;
}
