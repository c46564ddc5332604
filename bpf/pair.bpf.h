/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The two ends of something that lasts, and is tied to no thread: what its start left is found by
 * its end. Those that never end expire, which is user space's to do and to count.
 */
#ifndef DWELL_PAIR_BPF_H
#define DWELL_PAIR_BPF_H

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

extern struct pairs_map pairs SEC(".maps");
extern struct pairs_gone_map pairs_gone SEC(".maps");

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

#endif
