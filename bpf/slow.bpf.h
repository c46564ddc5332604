/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Single events that took longer than --slow are reported one by one, as far as the budget of a
 * second goes; the ledger at both ends says of what their time was made. Beyond the budget the
 * slowest still are: an event that is longer than the SLOW_TOP-th longest that its CPU has reported
 * of its signal. So the longest SLOW_TOP of each signal are always among those that are reported.
 */
#ifndef DWELL_SLOW_BPF_H
#define DWELL_SLOW_BPF_H

#define SLOW_TOP   32
#define SLOW_EXTRA 4 /* times the budget of a second, at most, for what is among the longest */

/* Of one signal on one CPU. */
struct slow_budget {
	u64 second;
	u64 used;
	u64 top[SLOW_TOP]; /* the longest that were reported, longest first */
};

struct slow_budgets_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SIGNAL_LIMIT);
	__type(key, u32); /* enum signal_id */
	__type(value, struct slow_budget);
};

extern struct slow_budgets_map slow_budgets SEC(".maps");

/* What a thread had waited for so far, of each part: the difference of two is an event's own. */
struct slow_mark {
	u64 part[SLOW_PART_COUNT];
};

/* What is in no part counts as CPU time. A thread that is being created has no events yet. */
_Static_assert(STATE_BLOCKED_DISK_HELD + 1 == STATE_COUNT, "a new state belongs to a part");

/*
 * In the thread's own context, where no wait is open. Not inlined: its callers have no room left in
 * their frames.
 */
static __noinline __attribute__((unused)) int slow_mark(const struct ledger_task *account,
							struct slow_mark *mark)
{
	const u64 *ns = account->ns;

	mark->part[SLOW_PART_CPU] = 0; /* the rest */
	mark->part[SLOW_PART_RUNQ] =
		ns[STATE_RUNQ_WOKEN] + ns[STATE_RUNQ_PREEMPTED] + ns[STATE_RUNQ_THROTTLED];
	mark->part[SLOW_PART_LOCK] = ns[STATE_BLOCKED_LOCK] + ns[STATE_BLOCKED_KERNEL_LOCK];
	mark->part[SLOW_PART_DISK] =
		ns[STATE_BLOCKED_DISK] + ns[STATE_BLOCKED_DISK_HELD] + ns[STATE_BLOCKED_PAGEIN];
	mark->part[SLOW_PART_NET] = ns[STATE_BLOCKED_NET] + ns[STATE_BLOCKED_POLL];
	mark->part[SLOW_PART_OTHER] =
		ns[STATE_BLOCKED_IDLE] + ns[STATE_BLOCKED_SLEEP] + ns[STATE_BLOCKED_PIPE] +
		ns[STATE_BLOCKED_CHILD] + ns[STATE_BLOCKED_STOPPED] + ns[STATE_BLOCKED_SIGNALLED] +
		ns[STATE_BLOCKED_IPC] + ns[STATE_BLOCKED_MEMORY] + ns[STATE_BLOCKED_OTHER];
	mark->part[SLOW_PART_DISK_QUEUE] = 0; /* of whom requests are known */
	mark->part[SLOW_PART_DISK_SERVICE] = 0;
	return 0;
}

/*
 * Among the longest, in their order; the least falls out. Without branches, each of which would be
 * one more way for the verifier to go. An interrupt may do the same in between: then one can be
 * forgotten, the floor is lower than it could be, and more events are reported.
 */
static __always_inline void slow_note_top(struct slow_budget *budget, u64 ns)
{
	for (u32 i = 0; i < SLOW_TOP; i++) {
		u64 there = budget->top[i], swap;
		s64 is_less = (s64)(there - ns) >> 63; /* all bits, or none: times are below 2^63 */

		ledger_barrier_value(is_less);
		swap = (there ^ ns) & (u64)is_less;
		budget->top[i] = there ^ swap;
		ns ^= swap;
	}
}

static __always_inline bool slow_is_in_budget(struct slow_budget *budget, u64 ns, u64 allowed)
{
	u64 second = bpf_ktime_get_ns() >> 30; /* nearly */

	if (budget->second != second) {
		budget->second = second;
		budget->used = 0;
	}
	if (budget->used >= allowed &&
	    (ns <= budget->top[SLOW_TOP - 1] || budget->used >= SLOW_EXTRA * allowed))
		return false;
	budget->used++;
	if (ns > budget->top[SLOW_TOP - 1])
		slow_note_top(budget, ns);
	return true;
}

/* Worth a line of its own? The budget is taken by asking. */
static __always_inline bool slow_is_told(u32 signal, u64 ns)
{
	struct live_config *live = live_config();
	struct series_share *share;
	struct slow_budget *budget;

	if (!live || !live->slow_ns || ns < live->slow_ns)
		return false;
	budget = bpf_map_lookup_elem(&slow_budgets, &signal);
	if (!budget)
		return false;
	if (slow_is_in_budget(budget, ns, live->slow_budget))
		return true;
	share = series_share_of(signal);
	if (share)
		__sync_fetch_and_add(&share->slow_unspoken, 1);
	return false;
}

/* What a slow event says besides its series and its length. */
struct slow_event {
	u64 ns;
	u64 stack;
	u64 value[2];
	const struct slow_mark *begin, *end; /* NULL: not known */
	u32 tid;			     /* in an interrupt: whose it is; 0: not known */
	bool is_owned_by_key; /* in an interrupt: nobody's, if the key has no process */
};

static __always_inline void slow_send(struct task_struct *task, const struct series_key *key,
				      const struct slow_event *event)
{
	struct rec_slow *rec = EMIT_RESERVE(SLOW, slow, task);
	u64 rest = event->ns;

	if (!rec)
		return; /* counted */
	/* In an interrupt the thread is anyone: then the series says whose it is. */
	if ((key->tgid || event->is_owned_by_key) && key->tgid != rec->hdr.tgid) {
		rec->hdr.tgid = key->tgid;
		rec->hdr.start_ns = key->start_ns;
		rec->hdr.tid = event->tid;
	}
	rec->key = *key;
	rec->ns = event->ns;
	rec->stack = event->stack;
	rec->value[0] = event->value[0];
	rec->value[1] = event->value[1];
	for (u32 i = 0; i < SLOW_PART_COUNT; i++) {
		u64 part = 0;

		if (event->begin && event->end)
			part = event->end->part[i] - event->begin->part[i];
		part = part < rest ? part : rest;
		rest -= part;
		rec->part[i] = part;
	}
	if (event->begin && event->end)
		rec->part[SLOW_PART_CPU] = rest;
	EMIT_SUBMIT(rec);
}

#endif
