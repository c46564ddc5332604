/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Counting in series: find the place of a key, add a value to its histogram; pair the two ends of
 * something that lasts; tell single events that were slow.
 *
 * Everything is atomic, as programs may interrupt each other on one CPU, and uprobes may be
 * preempted. Who has no place is counted in the "other" of its signal.
 */
#ifndef DWELL_SERIES_BPF_H
#define DWELL_SERIES_BPF_H

struct series_index_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SERIES_MAX);
	__type(key, struct series_key);
	__type(value, u32);
};

struct series_slots_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SERIES_MAX);
	__type(key, u32);
	__type(value, struct series_slot);
};

/* Those of one place stand together; how many there are of each, cfg_stripes says. */
struct series_stripes_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SERIES_MAX *SERIES_STRIPES_MAX);
	__type(key, u32);
	__type(value, struct series_stripe);
};

/* Places that are free. User space fills it before anything is attached, and gives back. */
struct series_free_map {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, SERIES_MAX);
	__type(value, u32);
};

struct series_shares_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SIGNAL_LIMIT);
	__type(key, u32);
	__type(value, struct series_share);
};

struct pairs_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PAIRS_MAX);
	__type(key, struct pair_key);
	__type(value, struct pair);
};

/* Created for who needs it. */
struct pairs_gone_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SIGNAL_LIMIT);
	__type(key, u32);
	__type(value, struct pairs_gone);
};

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

extern struct series_index_map series_index SEC(".maps");
extern struct series_slots_map series_slots SEC(".maps");
extern struct series_stripes_map series_stripes SEC(".maps");
extern struct series_free_map series_free SEC(".maps");
extern struct series_shares_map series_shares SEC(".maps");
extern struct pairs_map pairs SEC(".maps");
extern struct pairs_gone_map pairs_gone SEC(".maps");
extern struct slow_budgets_map slow_budgets SEC(".maps");

/* Is this signal measured? Known when the program is loaded: the rest is not even in it. */
#define SIGNAL_IS_ON(NAME)                                                                         \
	(((SIG_##NAME) < 32 ? cfg_signals : cfg_signals_high) >> ((SIG_##NAME) & 31) & 1)

/* --- places --- */

static __always_inline struct series_share *series_share_of(u32 signal)
{
	return bpf_map_lookup_elem(&series_shares, &signal);
}

/*
 * The place of a key that had none; SERIES_NONE if there is none left. One that is new is added to
 * *used: it is not, where another CPU was first.
 */
static __always_inline u32 series_take_place(struct series_key *key, u64 *used)
{
	struct series_slot *place;
	u32 slot, *known;

	if (bpf_map_pop_elem(&series_free, &slot))
		return SERIES_NONE;
	place = bpf_map_lookup_elem(&series_slots, &slot);
	if (!place)
		return SERIES_NONE; /* cannot be */
	place->key = *key;
	place->is_led = place->beside[0] = place->beside[1] = 0;
	if (bpf_map_update_elem(&series_index, key, &slot, BPF_NOEXIST)) {
		bpf_map_push_elem(&series_free, &slot, BPF_ANY);
		known = bpf_map_lookup_elem(&series_index, key); /* another CPU was first */
		return known ? *known : SERIES_NONE;
	}
	__sync_fetch_and_add(used, 1);
	ledger_barrier();
	place->is_ready = SERIES_READY;
	return slot;
}

/*
 * The place of "other" of a key's signal and kind: of its detail, of which there are few, while a
 * quarter more places than the share has are not used up by these; then of all details.
 */
static __noinline u32 series_fold(struct series_key *key)
{
	struct series_share *share = series_share_of(key->signal);
	struct series_key other = {.object = SERIES_OTHER};
	u32 slot = SERIES_NONE, *known;

	if (!share)
		return SERIES_NONE;
	other.signal = key->signal;
	other.kind = key->kind;
	other.detail = key->detail;
	known = bpf_map_lookup_elem(&series_index, &other);
	if (known) {
		slot = *known;
	} else if (share->others < share->limit / 4) {
		slot = series_take_place(&other, &share->others);
	}
	if (slot == SERIES_NONE) {
		other.detail = SERIES_ANY_DETAIL;
		known = bpf_map_lookup_elem(&series_index, &other);
		slot = known ? *known : series_take_place(&other, &share->others);
	}
	__sync_fetch_and_add(slot == SERIES_NONE ? &share->lost : &share->folded, 1);
	return slot;
}

/* The first value of a key: within its signal's share it gets a place, else that of "other". */
static __noinline u32 series_make(struct series_key *key)
{
	struct series_share *share = series_share_of(key->signal);

	if (!share || share->used >= share->limit)
		return SERIES_NONE;
	return series_take_place(key, &share->used);
}

/* One after the other, not one within the other: calls in calls may have 512 bytes in all. */
static __always_inline u32 series_make_or_fold(struct series_key *key)
{
	u32 slot = series_make(key);

	return slot == SERIES_NONE ? series_fold(key) : slot;
}

static __always_inline u32 series_find(struct series_key *key)
{
	u32 *slot = bpf_map_lookup_elem(&series_index, key);

	return slot ? *slot : series_make_or_fold(key);
}

static __always_inline bool series_key_is(const struct series_key *a, const struct series_key *b)
{
	return a->start_ns == b->start_ns && a->tgid == b->tgid && a->signal == b->signal &&
	       a->kind == b->kind && a->detail == b->detail && a->object == b->object &&
	       a->more == b->more;
}

/*
 * Whether a place, at which a caller found the key before, is still the key's: that is faster than
 * to look for it. It may have been taken back since, and be another's. One that rests has its key
 * still, but is not used any more, so that it can be given away.
 */
static __always_inline bool series_is_at(const struct series_key *key, u32 slot)
{
	struct series_slot *place = bpf_map_lookup_elem(&series_slots, &slot);

	return place && place->is_ready == SERIES_READY && series_key_is(&place->key, key);
}

/* The place of a key, by way of where it was found before, which the caller keeps; 0 at first. */
static __always_inline u32 series_find_again(struct series_key *key, u32 *place)
{
	if (!series_is_at(key, *place))
		*place = series_find(key);
	return *place;
}

/* The place of a series that differs from another, the leader, in its kind alone. */
static __always_inline u32 series_find_beside(struct series_slot *leader, struct series_key *key,
					      u32 kind, u32 which)
{
	u32 known = leader->beside[which], slot;
	struct series_slot *led;

	if (known)
		return known - 1;
	key->kind = (u8)kind;
	slot = series_find(key);
	led = bpf_map_lookup_elem(&series_slots, &slot);
	/* Of both: one that has no place of its own may have one the next time. */
	if (led && leader->key.object == key->object && led->is_ready == SERIES_READY &&
	    series_key_is(&led->key, key)) {
		led->is_led = 1;
		leader->beside[which] = slot + 1;
	}
	return slot;
}

/* Whose: a followed thread's process. */
static __always_inline void series_of(struct series_key *key, const struct ledger_task *account)
{
	key->tgid = account->tgid;
	key->start_ns = account->start_ns;
}

/* --- values --- */

static __always_inline struct series_stripe *series_stripe_of(u32 slot)
{
	u32 place = slot * cfg_stripes + (bpf_get_smp_processor_id() & (cfg_stripes - 1));

	return slot == SERIES_NONE ? NULL : bpf_map_lookup_elem(&series_stripes, &place);
}

/* The bucket of a value. How it was found need not be remembered by the verifier. */
static __always_inline u64 series_bucket_of(u64 value)
{
	return ledger_forget(hist_place(value), value);
}

/* A value whose bucket is known, that stands for so many. 0 changes nothing but its bucket. */
static __always_inline void stripe_add(struct series_stripe *stripe, u64 value, u64 place,
				       u64 weight)
{
	if (place >= HIST_BUCKETS)
		return; /* cannot be */
	__sync_fetch_and_add(&stripe->buckets[place], (u32)weight);
	if (!value)
		return;
	__sync_fetch_and_add(&stripe->sum, value * weight);
	if (value > stripe->max)
		stripe->max = value;
}

/* One value that stands for so many. */
static __always_inline void series_add_weighted(u32 slot, u64 value, u64 weight)
{
	struct series_stripe *stripe = series_stripe_of(slot);

	if (stripe)
		stripe_add(stripe, value, series_bucket_of(value), weight);
}

static __always_inline void series_add(u32 slot, u64 value)
{
	series_add_weighted(slot, value, 1);
}

/* A time that cannot be is none. */
static __always_inline void series_add_span(u32 slot, u64 begin_ns, u64 end_ns)
{
	series_add(slot, end_ns > begin_ns ? end_ns - begin_ns : 0);
}

/* series_count(slot, orphan_ends): something of this series had no other end. */
#define series_count(slot, counter)                                                                \
	do {                                                                                       \
		struct series_stripe *stripe_ = series_stripe_of(slot);                            \
                                                                                                   \
		if (stripe_)                                                                       \
			__sync_fetch_and_add(&stripe_->counter, 1);                                \
	} while (0)

/*
 * Whether this event is one of those that have their stack taken: for how many it stands, 0: it is
 * not. The distance to the next one is random, so that nothing that happens in turns is always hit,
 * or never; on average it is what was asked for.
 */
static __always_inline u64 series_weight_of_next(u64 *left)
{
	struct live_config *live = live_config();
	u64 one_in = live ? live->stack_one_in : 0;

	if (!one_in)
		return 0;
	if (*left > 1) {
		*left -= 1;
		return 0;
	}
	*left = 1 + bpf_get_prandom_u32() % (2 * one_in - 1);
	return one_in;
}

/* --- pairs --- */

static __always_inline struct pairs_gone *pairs_gone_of(u32 signal)
{
	return bpf_map_lookup_elem(&pairs_gone, &signal);
}

/*
 * Probes are attached and detached one after the other, which takes milliseconds: until then, one
 * end of a thing is seen and the other is not. That is no loss; it is not counted at all.
 */
static __always_inline bool pairs_are_whole(void)
{
	struct live_config *live = live_config();

	return live && !live->is_partial;
}

/* True if there was room. */
static __always_inline bool pair_put(struct pair_key *key, struct pair *pair)
{
	struct series_share *share;

	if (!bpf_map_update_elem(&pairs, key, pair, BPF_ANY))
		return true;
	share = series_share_of(key->signal);
	if (share)
		__sync_fetch_and_add(&share->unpaired, 1);
	return false;
}

/* A start: of a thing whose start is there already, the end was missed. True: it is one more. */
static __always_inline bool pair_begin(struct pair_key *key, struct pair *pair)
{
	struct pair *before = bpf_map_lookup_elem(&pairs, key);

	if (!pairs_are_whole())
		return false;
	if (before)
		series_count(before->slot, orphan_starts);
	return pair_put(key, pair) && !before;
}

/*
 * An end: true, and what its start left, is in *ret_pair. An end without a start is the caller's to
 * count, by series_count(slot, orphan_ends), or to pass over where starts were left out on purpose.
 */
static __always_inline bool pair_end(struct pair_key *key, struct pair *ret_pair)
{
	struct pair *pair = bpf_map_lookup_elem(&pairs, key);

	if (!pair)
		return false;
	*ret_pair = *pair;
	return !bpf_map_delete_elem(&pairs, key); /* else it has expired at this very moment */
}

/* --- slow ones --- */

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
