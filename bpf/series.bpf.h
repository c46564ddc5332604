/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Counting in series: find the place of a key, add a value to its histogram.
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

extern struct series_index_map series_index SEC(".maps");
extern struct series_slots_map series_slots SEC(".maps");
extern struct series_stripes_map series_stripes SEC(".maps");
extern struct series_free_map series_free SEC(".maps");
extern struct series_shares_map series_shares SEC(".maps");

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
	ledger_store_release(&place->is_ready, SERIES_READY);
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

/*
 * The first value of a key: within its signal's share it gets a place. Processes have half of them;
 * the other half is for commands, so that thousands of short processes do not push out the rest.
 */
static __noinline u32 series_make(struct series_key *key)
{
	struct series_share *share = series_share_of(key->signal);

	if (!share || share->used >= (key->tgid ? share->limit / 2 : share->limit))
		return SERIES_NONE;
	return series_take_place(key, &share->used);
}

/* The command of a process: its name, and the id that stands for it in a key. */
struct series_command {
	u64 words[2];
	u64 id;
};

static __always_inline u64 series_mix(u64 hash, u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ (hash >> 32);
}

/* Of the key's process; false: the task is another's. */
static __always_inline bool series_command_of(struct task_struct *task,
					      const struct series_key *key,
					      struct series_command *ret_command)
{
	u64 start_ns = BPF_CORE_READ(task, group_leader, start_boottime);

	if (!key->tgid || start_ns != key->start_ns ||
	    bpf_probe_read_kernel(ret_command->words, sizeof(ret_command->words), task_comm(task)))
		return false;
	ret_command->id = series_mix(series_mix(0, ret_command->words[0]), ret_command->words[1]);
	ret_command->id = (ret_command->id & (SERIES_COMMAND - 1)) | SERIES_COMMAND;
	return true;
}

static __always_inline void series_name_command(struct task_struct *task,
						const struct series_command *command)
{
	struct rec_label *rec = EMIT_RESERVE(LABEL, label, task);

	if (!rec)
		return; /* counted; the command's next series tries again */
	rec->id = command->id;
	rec->of = 0;
	rec->signal = SIG_SERIES;
	rec->is_cut = 0;
	__builtin_memset(rec->name, 0, sizeof(rec->name));
	__builtin_memcpy(rec->name, command->words, sizeof(command->words));
	EMIT_SUBMIT(rec);
}

/* What all processes of a command do with one object or, if those are too many, with any. */
static __noinline u32 series_make_command(struct series_key *key, struct series_command *command)
{
	struct series_share *share = series_share_of(key->signal);
	u32 *known = bpf_map_lookup_elem(&series_index, key), slot;

	if (known)
		return *known;
	/* A quarter is for what has no object, of which there are few. */
	if (!share || share->used >= (key->object ? share->limit / 4 * 3 : share->limit))
		return SERIES_NONE;
	slot = series_take_place(key, &share->used);
	if (slot != SERIES_NONE)
		series_name_command(current_task(), command);
	return slot;
}

static __noinline u32 series_find_command(struct task_struct *task, struct series_key *key)
{
	struct series_command command = {};
	struct series_key folded = *key;
	struct series_share *share;
	u32 slot;

	if (!series_command_of(task, key, &command))
		return SERIES_NONE;
	folded.tgid = 0;
	folded.start_ns = command.id;
	slot = series_make_command(&folded, &command);
	if (slot != SERIES_NONE)
		return slot;
	folded.object = folded.more = 0;
	slot = series_make_command(&folded, &command);
	share = series_share_of(key->signal);
	if (share && slot != SERIES_NONE)
		__sync_fetch_and_add(&share->folded, 1);
	return slot;
}

/* One after the other, not one within the other: calls in calls may have 512 bytes in all. */
static __always_inline u32 series_make_or_fold_of(struct task_struct *task, struct series_key *key)
{
	u32 slot = series_make(key);

	if (slot == SERIES_NONE && key->tgid)
		slot = series_find_command(task, key);
	return slot == SERIES_NONE ? series_fold(key) : slot;
}

static __always_inline u32 series_make_or_fold(struct series_key *key)
{
	return series_make_or_fold_of(current_task(), key);
}

/* The place of a key of the task's process. */
static __always_inline u32 series_find_of(struct task_struct *task, struct series_key *key)
{
	u32 *slot = bpf_map_lookup_elem(&series_index, key);

	return slot ? *slot : series_make_or_fold_of(task, key);
}

/* Of the current thread's process, or of none. */
static __always_inline u32 series_find(struct series_key *key)
{
	return series_find_of(current_task(), key);
}

/*
 * The same without the series of commands: for programs at functions, whose own data leave too
 * little of the 512 bytes that calls in calls may have. What finds no slot is in "other".
 */
static __always_inline u32 series_find_alone(struct series_key *key)
{
	u32 *known = bpf_map_lookup_elem(&series_index, key), slot;

	if (known)
		return *known;
	slot = series_make(key);
	return slot == SERIES_NONE ? series_fold(key) : slot;
}

static __always_inline bool series_key_is(const struct series_key *a, const struct series_key *b)
{
	return a->start_ns == b->start_ns && a->tgid == b->tgid && a->signal == b->signal &&
	       a->kind == b->kind && a->detail == b->detail && a->object == b->object &&
	       a->more == b->more;
}

/* Whether a place is of this object: of the process, or of its command. */
static __always_inline bool series_has_object(u32 slot, u64 object)
{
	struct series_slot *place = bpf_map_lookup_elem(&series_slots, &slot);

	return place && place->key.object == object;
}

/*
 * Whether a place, at which a caller found the key before, is still the key's: that is faster than
 * to look for it. It may have been taken back since, and be another's. One that rests has its key
 * still, but is not used any more, so that it can be given away.
 */
static __always_inline bool series_is_at(const struct series_key *key, u32 slot)
{
	struct series_slot *place = bpf_map_lookup_elem(&series_slots, &slot);

	return place && ledger_load_acquire(&place->is_ready) == SERIES_READY &&
	       series_key_is(&place->key, key);
}

/* The place of a key, by way of where it was found before, which the caller keeps; 0 at first. */
static __always_inline u32 series_find_again(struct series_key *key, u32 *place)
{
	u32 slot = *place; /* read once: who interrupts this may keep another there meanwhile */

	if (series_is_at(key, slot))
		return slot;
	slot = series_find(key);
	*place = slot;
	return slot;
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
	if (led && leader->key.object == key->object &&
	    ledger_load_acquire(&led->is_ready) == SERIES_READY && series_key_is(&led->key, key)) {
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
	ledger_at_most(place, HIST_BUCKETS - 1); /* it is; older verifiers lose track of it */
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
 * or never; on average it is what was asked for when it was drawn, which is kept beside it (in the
 * upper half): the rate may change meanwhile.
 */
static __always_inline u64 series_weight_of_next(u64 *left)
{
	struct live_config *live = live_config();
	u64 one_in = live ? live->stack_one_in : 0, drawn = *left >> 32;

	if (!one_in)
		return 0;
	if ((u32)*left > 1) {
		*left -= 1;
		return 0;
	}
	*left = one_in << 32 | (1 + bpf_get_prandom_u32() % (2 * one_in - 1));
	return drawn ? drawn : one_in;
}

#endif
