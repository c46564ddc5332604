/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What the programs of `dwell trace` share: the places' specs, and the calls that a thread has
 * open.
 */
#ifndef DWELL_FUNC_BPF_H
#define DWELL_FUNC_BPF_H

/* A call that has begun. */
struct func_frame {
	u64 begin_ns;
	u64 sp; /* where its return address is; 0: a function of the kernel */
	u64 more;
	u32 place;
	u32 weight;
	struct slow_mark mark;
};

struct func_task {
	u64 begin_ns; /* of the account that this belongs to */
	u32 depth;
	u16 is_worker; /* of a pool: it has taken a task, */
	u16 is_active; /* and is not done with it */
	struct func_frame frames[FUNC_DEPTH_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct func_task);
} func_tasks SEC(".maps");

/* Written before anything is attached. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FUNC_PLACES_MAX);
	__type(key, u32);
	__type(value, struct func_spec);
} func_specs SEC(".maps");

/* How often each place was reached, whoever did: what it costs the host. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, FUNC_PLACES_MAX);
	__type(key, u32);
	__type(value, u64);
} func_hits SEC(".maps");

/* Labels by a thread's name that were told; those that are forgotten are told again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, FUNC_COMMS_MAX);
	__type(key, u64);
	__type(value, u8);
} func_comms SEC(".maps");

static __always_inline u32 place_of(void *ctx)
{
	return cfg_cookies ? (u32)bpf_get_attach_cookie(ctx) : 0;
}

static __always_inline struct func_spec *spec_of(u32 place)
{
	return bpf_map_lookup_elem(&func_specs, &place);
}

static __always_inline void count_hit(u32 place)
{
	u64 *hits = bpf_map_lookup_elem(&func_hits, &place);

	if (hits)
		__sync_fetch_and_add(hits, 1);
}

/* 0: this one is left out. Decided once, where something begins. */
static __always_inline u32 choose_weight(void)
{
	struct live_config *live = live_config();
	u64 one_in = live ? live->sample_one_in : 1;

	if (live && live->is_partial)
		return 0;
	if (one_in <= 1)
		return 1;
	return bpf_get_prandom_u32() % (u32)one_in ? 0 : (u32)one_in;
}

/* Are there ends whose start was left out on purpose? */
static __always_inline bool lacks_starts(void)
{
	struct live_config *live = live_config();

	return !live || live->sample_one_in > 1 || live->is_partial;
}

static __always_inline bool lacks_ends(void)
{
	struct live_config *live = live_config();

	return !live || live->is_partial;
}

/* Series by stack are of a signal of their own, as their key's last field is one. */
static __always_inline void begin_key(struct series_key *key, const struct func_spec *spec,
				      u32 kind, const struct ledger_task *account)
{
	key->signal = spec->by == FUNC_BY_STACK ? SIG_FUNCSTACK : SIG_FUNC;
	key->kind = (u8)kind;
	key->object = spec->label;
	series_of(key, account);
}

#endif
