// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * The functions of the C library that allocate, by uprobes. Which calls are taken is decided when
 * they begin; only the ends of these are waited for.
 *
 * From 6.13 on one program has both ends of a call, and its word at the first decides whether there
 * is a second: calls that are not taken cost one trap. Before, each return costs one, too.
 */
#include "../../bpf/common.bpf.h"
#include "alloc.bpf.h"

#define LIVES_MAX 16384

struct alloc_choices_map alloc_choices SEC(".maps");

/* What begins a call leaves in its pair. */
enum { BEGIN_SIZE, BEGIN_WEIGHTS, BEGIN_SP, BEGIN_STACK };

/* Taken allocations that nobody has freed yet. User space deletes those of dead processes. */
struct live_value {
	struct series_key key;
	u64 size;
	u64 weight;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LIVES_MAX);
	__type(key, struct alloc_live_key);
	__type(value, struct live_value);
} alloc_lives SEC(".maps");

static __always_inline struct pair_key call_of_thread(void)
{
	struct pair_key key = {.id = (u32)bpf_get_current_pid_tgid(), .signal = SIG_ALLOC};

	return key;
}

/*
 * A call within a call that is taken is part of it, also one that it ends with, which has its very
 * frame. One whose frame is above the open one's shows that the open one was left by a jump.
 */
static __always_inline bool is_inner(struct pair_key *key, const struct cpu_regs *regs)
{
	struct pair *open = bpf_map_lookup_elem(&pairs, key);

	return open && REGS_SP(regs) <= open->value[BEGIN_SP];
}

/* The clock is read last: what was done here is not the call's own time. */
static __always_inline void wait_for_end(struct pair_key *id, const struct cpu_regs *regs,
					 const struct ledger_task *account, u32 function, u64 size,
					 const struct alloc_weights *weights, u64 stack)
{
	struct series_key key = alloc_key(account, ALLOC_LATENCY, function, size);
	struct pair pair = {
		.slot = series_find(&key),
		.tag = function,
		.value = {[BEGIN_SIZE] = size,
			  [BEGIN_WEIGHTS] = (u64)weights->bytes << 32 | weights->latency,
			  [BEGIN_SP] = REGS_SP(regs),
			  [BEGIN_STACK] = stack},
	};

	pair.begin_ns = bpf_ktime_get_ns();
	pair_begin(id, &pair);
}

/* True: its end is to be waited for. */
static __always_inline bool begin(const struct cpu_regs *ctx, u32 function, u64 size)
{
	struct alloc_choice *choice = alloc_choice_here();
	struct live_config *live = live_config();
	struct pair_key id = call_of_thread();
	struct ledger_task *account;
	struct alloc_weights weights;
	struct series_key key;
	u64 stack = 0;

	if (!choice || !live || function >= ALLOC_FUNCTION_COUNT)
		return false;
	__sync_fetch_and_add(&choice->calls[function], 1); /* it may be preempted */
	if (size > ALLOC_SIZE_MAX)
		return false;
	alloc_choose(choice, live, size, &weights);
	if (!weights.latency && !weights.bytes)
		return false;
	account = account_of_current();
	if (!account || is_inner(&id, ctx))
		return false;
	if (weights.bytes) {
		key = alloc_key(account, ALLOC_BYTES, function, size);
		stack = key.more = alloc_stack((void *)ctx, account, live, ctx, false);
		series_add_weighted(series_find(&key), size, weights.bytes);
	}
	wait_for_end(&id, ctx, account, function, size, &weights, stack);
	return true;
}

static __always_inline void note_live(const struct ledger_task *account, const struct pair *begun,
				      u64 address)
{
	struct alloc_live_key key = {.address = address, .tgid = account->tgid};
	struct live_value value = {
		.key = alloc_key(account, ALLOC_FREED, begun->tag, begun->value[BEGIN_SIZE]),
		.size = begun->value[BEGIN_SIZE],
		.weight = begun->value[BEGIN_WEIGHTS] >> 32,
	};
	struct series_share *share;

	value.key.more = begun->value[BEGIN_STACK];
	if (!bpf_map_update_elem(&alloc_lives, &key, &value, BPF_ANY))
		return;
	share = series_share_of(SIG_ALLOC);
	if (share)
		__sync_fetch_and_add(&share->unpaired, 1);
}

static __always_inline void tell_slow(const struct ledger_task *account, const struct pair *begun,
				      u64 ns)
{
	struct series_key key =
		alloc_key(account, ALLOC_LATENCY, begun->tag, begun->value[BEGIN_SIZE]);
	struct slow_event event = {
		.ns = ns,
		.stack = begun->value[BEGIN_STACK],
		.value = {begun->value[BEGIN_SIZE]},
	};

	key.more = event.stack;
	slow_send(current_task(), &key, &event);
}

static __always_inline void take_end(const struct pair *begun, u64 now, u64 address)
{
	u64 ns = now > begun->begin_ns ? now - begun->begin_ns : 0;
	u32 weight = (u32)begun->value[BEGIN_WEIGHTS];
	struct live_config *live = live_config();
	struct ledger_task *account;

	series_add_weighted(begun->slot, ns, weight);
	account = account_of_current();
	if (!live || !account)
		return;
	if (slow_is_told(SIG_ALLOC, ns))
		tell_slow(account, begun, ns);
	if (live->alloc_live && address && begun->tag != ALLOC_BY_POSIX &&
	    begun->value[BEGIN_WEIGHTS] >> 32)
		note_live(account, begun, address);
}

/* The end of a call, taken or not: the frame tells. */
static __always_inline void end(const struct cpu_regs *ctx)
{
	struct pair_key id = call_of_thread();
	struct pair *open = bpf_map_lookup_elem(&pairs, &id);
	u64 now = bpf_ktime_get_ns();
	struct pair begun;

	if (!open || REGS_SP(ctx) < open->value[BEGIN_SP] + REGS_RETURN_BYTES ||
	    !pair_end(&id, &begun))
		return;
	if (REGS_SP(ctx) == begun.value[BEGIN_SP] + REGS_RETURN_BYTES)
		take_end(&begun, now, REGS_RESULT(ctx));
	else
		series_count(begun.slot, orphan_starts);
}

/* Whoever's it was: most are none that was taken. */
static __always_inline void give_back(u64 address)
{
	struct ledger_task *account = account_of_current();
	struct alloc_live_key key = {.address = address};
	struct live_value *found, value;

	if (!account || !address)
		return;
	key.tgid = account->tgid;
	found = bpf_map_lookup_elem(&alloc_lives, &key);
	if (!found)
		return;
	value = *found;
	if (!bpf_map_delete_elem(&alloc_lives, &key))
		series_add_weighted(series_find(&value.key), value.size, value.weight);
}

/* Of two factors; what no process has is no size, and so need not be right. */
static __always_inline u64 product(u64 a, u64 b)
{
	if (!a || !b)
		return 0;
	return a < ALLOC_SIZE_MAX && b <= ALLOC_SIZE_MAX / a ? a * b : ~0ULL;
}

/* How much a function is asked for. */
static __always_inline u64 size_of(const struct cpu_regs *ctx, u32 function)
{
	u64 first = REGS_ARG1(ctx), second = REGS_ARG2(ctx), third = REGS_ARG3(ctx);

	switch (function) {
	case ALLOC_BY_CALLOC:
		return product(first, second);
	case ALLOC_BY_REALLOC:
	case ALLOC_BY_MEMALIGN:
		return second;
	case ALLOC_BY_POSIX:
		return third;
	default:
		return first;
	}
}

/* It will call malloc: that has a probe. */
static __always_inline bool is_malloc(const struct cpu_regs *ctx, u32 function)
{
	return function == ALLOC_BY_REALLOC && !REGS_ARG1(ctx);
}

/* --- from 6.13 on: both ends, or the first alone --- */

/* Which function it is, the cookie says. */
SEC("?uprobe")
int alloc_both(struct cpu_regs *ctx)
{
	u32 cookie;

	UPROBE_BEGIN(ctx);
	if (REGS_IP(ctx) == bpf_get_func_ip(ctx)) {
		cookie = (u32)bpf_get_attach_cookie(ctx);
		if (!(cookie & ALLOC_COUNTS_NULL) && is_malloc(ctx, cookie))
			return 1;
		cookie &= ~ALLOC_COUNTS_NULL;
		return !begin(ctx, cookie, size_of(ctx, cookie));
	}
	end(ctx);
	return 0;
}

/* --- before: two programs --- */

#define BEGIN(name, FUNCTION)                                                                      \
	SEC("?uprobe")                                                                             \
	int alloc_##name##_begin(struct cpu_regs *ctx)                                             \
	{                                                                                          \
		UPROBE_BEGIN(ctx);                                                                 \
		if (!is_malloc(ctx, ALLOC_BY_##FUNCTION))                                          \
			begin(ctx, ALLOC_BY_##FUNCTION, size_of(ctx, ALLOC_BY_##FUNCTION));        \
		return 0;                                                                          \
	}

BEGIN(malloc, MALLOC)
BEGIN(calloc, CALLOC)
BEGIN(realloc, REALLOC)
BEGIN(memalign, MEMALIGN)
BEGIN(posix, POSIX)

SEC("?uretprobe")
int alloc_end(struct cpu_regs *ctx)
{
	UPROBE_BEGIN(ctx);
	end(ctx);
	return 0;
}

/* --- what becomes of it --- */

/* realloc() gives back what it got, if it succeeds, which it mostly does. */
SEC("?uprobe")
int alloc_free(struct cpu_regs *ctx)
{
	struct alloc_choice *choice = alloc_choice_here();

	UPROBE_BEGIN(ctx);
	if (choice)
		__sync_fetch_and_add(&choice->calls[ALLOC_BY_FREE], 1); /* it may be preempted */
	give_back(REGS_ARG1(ctx));
	return 0;
}

/* --- whose libraries are looked for --- */

/* As for stacks, which there may be none of: who is there is looked at before it is followed. */
SEC("?iter/task")
int alloc_ask(struct bpf_iter__task *ctx)
{
	struct live_config *live = live_config();
	struct task_struct *task = ctx->task;

	if (task && task->pid == task->tgid && !(task->flags & PF_KTHREAD) && live &&
	    live->scope == SCOPE_LISTED && filter_wants(task))
		unwind_ask(task_tgid(task), NULL);
	return 0;
}
