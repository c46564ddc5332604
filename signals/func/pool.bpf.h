/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Between two probes: spans that begin at one and end at another, on whatever thread, tied together
 * by a key that both know; and a pool's tasks, which are queued, taken by a worker, and done.
 */
#ifndef DWELL_FUNC_POOL_BPF_H
#define DWELL_FUNC_POOL_BPF_H

/* What ends, and so belongs to the pairs of another kind. */
enum { PAIR_SPAN, PAIR_QUEUED, PAIR_RUNNING };

/*
 * One pool at a time. Additions are atomic; who reads after that may see another's too. Workers are
 * counted as threads, not by their tasks: one that is busy for longer than pairs are kept is busy.
 */
struct func_pool {
	s64 queued; /* with those that have expired since */
	s64 active;
	s64 workers;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FUNC_POOLS_MAX);
	__type(key, u32);
	__type(value, struct func_pool);
} func_pools SEC(".maps");

static __always_inline struct func_pool *pool_here(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&func_pools, &zero);
}

/* What user space has given up waiting for is in the queue no more. */
static __always_inline s64 pool_depth(const struct func_pool *pool)
{
	struct pairs_gone *gone = pairs_gone_of(SIG_FUNC);

	return pool->queued - (gone ? (s64)gone->expired[PAIR_QUEUED] : 0);
}

/* A worker's thread ends. */
static __always_inline void pool_leave(struct func_pool *pool, const struct func_task *task)
{
	if (task->is_worker)
		__sync_fetch_and_add(&pool->workers, -1);
	if (task->is_active)
		__sync_fetch_and_add(&pool->active, -1);
}

/* The same pointer is another thing in another process. */
static __always_inline void tie(struct pair_key *key, u64 id, u32 kind,
				const struct ledger_task *account)
{
	key->id = id ^ (u64)account->tgid << 40;
	key->signal = SIG_FUNC;
	key->kind = kind;
}

static __always_inline u32 slot_of(const struct func_spec *spec, u32 kind,
				   const struct ledger_task *account)
{
	struct series_key key = {};

	begin_key(&key, spec, kind, account);
	key.signal = SIG_FUNC;
	return series_find_alone(&key);
}

/* Counters may be seen below zero, where an end came without its beginning. */
static __always_inline u64 not_below_zero(s64 value)
{
	return value > 0 ? (u64)value : 0;
}

static __always_inline void span_begin(const struct func_spec *spec, u64 id,
				       const struct ledger_task *account)
{
	struct pair_key key = {};
	struct pair pair = {.begin_ns = bpf_ktime_get_ns()};

	tie(&key, id, PAIR_SPAN, account);
	pair.slot = slot_of(spec, FUNC_KIND_SPAN, account);
	pair_begin(&key, &pair);
}

static __always_inline void span_tell_slow(const struct func_spec *spec, u64 ns,
					   const struct ledger_task *account)
{
	struct slow_event event = {.ns = ns};
	struct series_key key = {};

	if (!slow_is_told(SIG_FUNC, ns))
		return;
	begin_key(&key, spec, FUNC_KIND_SPAN, account);
	key.signal = SIG_FUNC;
	slow_send(current_task(), &key, &event);
}

static __always_inline void span_end(const struct func_spec *spec, u64 id,
				     const struct ledger_task *account)
{
	u64 now = bpf_ktime_get_ns();
	struct pair_key key = {};
	struct pair pair;

	tie(&key, id, PAIR_SPAN, account);
	if (!pair_end(&key, &pair)) {
		series_count(slot_of(spec, FUNC_KIND_SPAN, account), orphan_ends);
		return;
	}
	series_add_span(pair.slot, pair.begin_ns, now);
	if (now > pair.begin_ns)
		span_tell_slow(spec, now - pair.begin_ns, account);
}

/* --- a pool --- */

static __always_inline void pool_enqueue(const struct func_spec *spec, u64 id,
					 const struct ledger_task *account)
{
	struct pair pair = {.begin_ns = bpf_ktime_get_ns()};
	struct func_pool *pool = pool_here();
	struct pair_key key = {};

	if (!pool)
		return;
	tie(&key, id, PAIR_QUEUED, account);
	pair.slot = slot_of(spec, FUNC_KIND_QUEUEING, account);
	pair.value[0] = not_below_zero(pool->workers - pool->active);
	if (pair_begin(&key, &pair))
		__sync_fetch_and_add(&pool->queued, 1);
	series_add(slot_of(spec, FUNC_KIND_DEPTH, account), not_below_zero(pool_depth(pool)));
	series_add(slot_of(spec, FUNC_KIND_ACTIVE, account), not_below_zero(pool->active));
	series_add(slot_of(spec, FUNC_KIND_IDLE, account), pair.value[0]);
}

/* What the worker had waited for so far, by the ledger: to be subtracted when the task is done. */
static __always_inline u64 blocked_so_far(const struct slow_mark *mark)
{
	return mark->part[SLOW_PART_LOCK] + mark->part[SLOW_PART_DISK] + mark->part[SLOW_PART_NET] +
	       mark->part[SLOW_PART_OTHER];
}

static __always_inline void pool_start(const struct func_spec *spec, u64 id, struct func_task *task,
				       const struct ledger_task *account)
{
	struct pair running = {.begin_ns = bpf_ktime_get_ns()};
	struct func_pool *pool = pool_here();
	struct pair_key key = {};
	struct slow_mark mark;
	struct pair queued;

	if (!pool)
		return;
	if (!task->is_worker) {
		task->is_worker = 1;
		__sync_fetch_and_add(&pool->workers, 1);
	}
	if (!task->is_active) {
		task->is_active = 1;
		__sync_fetch_and_add(&pool->active, 1);
	}
	tie(&key, id, PAIR_QUEUED, account);
	if (pair_end(&key, &queued)) {
		__sync_fetch_and_add(&pool->queued, -1);
		series_add_span(queued.slot, queued.begin_ns, running.begin_ns);
		if (queued.value[0])
			series_add_span(slot_of(spec, FUNC_KIND_IDLE_QUEUEING, account),
					queued.begin_ns, running.begin_ns);
		running.value[0] = queued.begin_ns;
	} else {
		series_count(slot_of(spec, FUNC_KIND_QUEUEING, account), orphan_ends);
	}
	slow_mark(account, &mark);
	running.value[1] = blocked_so_far(&mark);
	running.value[2] = mark.part[SLOW_PART_RUNQ];
	running.value[3] = account->tid;
	running.slot = slot_of(spec, FUNC_KIND_EXECUTION, account);
	key.kind = PAIR_RUNNING;
	pair_begin(&key, &running);
}

static __always_inline void pool_end(const struct func_spec *spec, u64 id, struct func_task *task,
				     const struct ledger_task *account)
{
	struct func_pool *pool = pool_here();
	u64 now = bpf_ktime_get_ns();
	struct pair_key key = {};
	struct slow_mark mark;
	struct pair running;

	if (!pool)
		return;
	if (task && task->is_active) {
		task->is_active = 0;
		__sync_fetch_and_add(&pool->active, -1);
	}
	tie(&key, id, PAIR_RUNNING, account);
	if (!pair_end(&key, &running)) {
		series_count(slot_of(spec, FUNC_KIND_EXECUTION, account), orphan_ends);
		return;
	}
	series_add_span(running.slot, running.begin_ns, now);
	if (running.value[0])
		series_add_span(slot_of(spec, FUNC_KIND_SOJOURN, account), running.value[0], now);
	if (running.value[3] != account->tid)
		return; /* it was handed on: neither's waits are the task's */
	slow_mark(account, &mark);
	/* Sums of an account, of which an exec makes a new one: they are spans as times are. */
	series_add_span(slot_of(spec, FUNC_KIND_BLOCKED, account), running.value[1],
			blocked_so_far(&mark));
	series_add_span(slot_of(spec, FUNC_KIND_RUNNABLE, account), running.value[2],
			mark.part[SLOW_PART_RUNQ]);
}

#endif
