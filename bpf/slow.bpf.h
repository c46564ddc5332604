/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Single events that took longer than --slow are told one by one, as far as the budget of a second
 * goes; the ledger at both ends says of what their time was made.
 */
#ifndef DWELL_SLOW_BPF_H
#define DWELL_SLOW_BPF_H

struct slow_budget {
	u64 second;
	u64 used;
};

struct slow_budgets_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct slow_budget);
};

extern struct slow_budgets_map slow_budgets SEC(".maps");

/* What a thread had waited for so far, of each part: the difference of two is an event's own. */
struct slow_mark {
	u64 part[SLOW_PART_COUNT];
};

/* In the thread's own context, where no wait is open. */
static __always_inline void slow_mark(const struct ledger_task *account, struct slow_mark *mark)
{
	const u64 *ns = account->ns;

	mark->part[SLOW_PART_CPU] = 0; /* the rest */
	mark->part[SLOW_PART_RUNQ] =
		ns[STATE_RUNQ_WOKEN] + ns[STATE_RUNQ_PREEMPTED] + ns[STATE_RUNQ_THROTTLED];
	mark->part[SLOW_PART_LOCK] = ns[STATE_BLOCKED_LOCK] + ns[STATE_BLOCKED_KERNEL_LOCK];
	mark->part[SLOW_PART_DISK] = ns[STATE_BLOCKED_DISK] + ns[STATE_BLOCKED_PAGEIN];
	mark->part[SLOW_PART_NET] = ns[STATE_BLOCKED_NET] + ns[STATE_BLOCKED_POLL];
	mark->part[SLOW_PART_OTHER] = ns[STATE_BLOCKED_IDLE] + ns[STATE_BLOCKED_SLEEP] +
				      ns[STATE_BLOCKED_PIPE] + ns[STATE_BLOCKED_CHILD] +
				      ns[STATE_BLOCKED_STOPPED] + ns[STATE_BLOCKED_OTHER];
	mark->part[SLOW_PART_DISK_QUEUE] = 0; /* of whom requests are known */
	mark->part[SLOW_PART_DISK_SERVICE] = 0;
}

/* Worth a line of its own? The budget is taken by asking. */
static __always_inline bool slow_is_told(u32 signal, u64 ns)
{
	struct live_config *live = live_config();
	struct series_share *share;
	struct slow_budget *budget;
	u32 zero = 0;
	u64 second;

	if (!live || !live->slow_ns || ns < live->slow_ns)
		return false;
	budget = bpf_map_lookup_elem(&slow_budgets, &zero);
	if (!budget)
		return false;
	second = bpf_ktime_get_ns() >> 30; /* nearly */
	if (budget->second != second) {
		budget->second = second;
		budget->used = 0;
	}
	if (budget->used++ < live->slow_budget)
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
};

static __always_inline void slow_send(struct task_struct *task, const struct series_key *key,
				      const struct slow_event *event)
{
	struct rec_slow *rec = EMIT_RESERVE(SLOW, slow, task);
	u64 rest = event->ns;

	if (!rec)
		return; /* counted */
	/* In an interrupt the thread is anyone: then the series says whose it is. */
	if (key->tgid && key->tgid != rec->hdr.tgid) {
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
