// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * What it costs to record a value: our histogram, and one of powers of two as most tools have. Both
 * look up the same key in the same hash, add up the same, and read their values from the
 * same list.
 */
#include <vmlinux.h>

#include <bpf/bpf_helpers.h>

#include "../abi/series.h"

char LICENSE[] SEC("license") = "GPL";

#define VALUES	   4096 /* 2^n */
#define LOG2_SLOTS 64

struct log2_series {
	u64 sum, max;
	u32 slots[LOG2_SLOTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, struct series_key);
	__type(value, u32);
} hist_index SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 64);
	__type(key, u32);
	__type(value, struct series_stripe);
} hist_stripes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 64);
	__type(key, u32);
	__type(value, struct log2_series);
} hist_log2s SEC(".maps");

u64 values[VALUES];
u64 next;

static __always_inline u64 value(void)
{
	return values[next++ & (VALUES - 1)];
}

static __always_inline u32 *find(void)
{
	struct series_key key = {.signal = 1, .tgid = 4711, .start_ns = 1};

	return bpf_map_lookup_elem(&hist_index, &key);
}

/* What it takes to run a program at all. */
SEC("tc")
int hist_empty(struct __sk_buff *unused)
{
	return 0;
}

/* All but the histogram: what both have in common. */
SEC("tc")
int hist_floor(struct __sk_buff *unused)
{
	u32 *slot = find();
	struct series_stripe *stripe = slot ? bpf_map_lookup_elem(&hist_stripes, slot) : NULL;
	u64 one = value();

	if (!stripe)
		return 0;
	__sync_fetch_and_add(&stripe->sum, one);
	if (one > stripe->max)
		stripe->max = one;
	return 0;
}

SEC("tc")
int hist_log2_add(struct __sk_buff *unused)
{
	u32 *slot = find();
	struct log2_series *series = slot ? bpf_map_lookup_elem(&hist_log2s, slot) : NULL;
	u64 one = value(), place = hist_log2(one);

	if (!series || place >= LOG2_SLOTS)
		return 0;
	__sync_fetch_and_add(&series->sum, one);
	__sync_fetch_and_add(&series->slots[place], 1);
	if (one > series->max)
		series->max = one;
	return 0;
}

SEC("tc")
int hist_ours_add(struct __sk_buff *unused)
{
	u32 *slot = find();
	struct series_stripe *stripe = slot ? bpf_map_lookup_elem(&hist_stripes, slot) : NULL;
	u64 one = value(), place = hist_place(one);

	if (!stripe || place >= HIST_BUCKETS)
		return 0;
	__sync_fetch_and_add(&stripe->sum, one);
	__sync_fetch_and_add(&stripe->buckets[place], 1);
	if (one > stripe->max)
		stripe->max = one;
	return 0;
}
