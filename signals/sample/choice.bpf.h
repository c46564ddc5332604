/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Which waits have their stack taken. One of length d is taken with the chance min(1, d /
 * threshold) and then stands for d / chance: so the sum is right on average, whatever the threshold
 * is, as long as that was set before. It is min_block_ns, and each CPU raises its own while it
 * takes more than its share of stacks, and lowers it again. Waits of min_block_ns and more have a
 * threshold and a share of their own, ten times as large: only a storm of them is thinned out.
 */
#ifndef DWELL_SAMPLE_CHOICE_BPF_H
#define DWELL_SAMPLE_CHOICE_BPF_H

#define WEIGHT_NS_MAX (1ULL << 53) /* 104 days */

#define CHOICE_LONG_SHARES 10

struct choice {
	u64 random; /* state of the generator; 0: not seeded yet */
	struct sampler_share shorter, longer;
	u64 wakers_ns; /* when the period of the next one began */
	u64 wakers;    /* of long waits, in their period */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct choice);
} sample_choices SEC(".maps");

static __always_inline struct choice *choice_here(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&sample_choices, &zero);
}

static __always_inline u64 choice_random(struct choice *choice)
{
	return sampler_random(&choice->random, bpf_get_smp_processor_id());
}

static __always_inline u64 choose_by(struct choice *choice, struct sampler_share *share, u64 limit,
				     u64 least_ns, u64 ns, u64 now)
{
	u64 threshold;

	sampler_turn(share, limit, now);
	threshold = least_ns << (share->doublings & 31);
	if (ns < threshold && choice_random(choice) % threshold >= ns)
		return 0;
	sampler_count(share, limit);
	return ns < threshold ? threshold : ns;
}

/* What a wait of this length that ends now stands for; 0: its stack is not taken. */
static __always_inline u64 choose_wait(u64 ns, u64 now)
{
	struct live_config *live = live_config();
	struct choice *choice = choice_here();
	u64 limit, least_ns;

	if (!live || !choice || !live->block_stacks)
		return 0;
	limit = sampler_limit(live->block_stacks);
	least_ns = live->min_block_ns;
	if (ns < least_ns)
		return choose_by(choice, &choice->shorter, limit, least_ns, ns, now);
	return choose_by(choice, &choice->longer, limit * CHOICE_LONG_SHARES, least_ns, ns, now);
}

/* The same where the length is not known yet: for how many waits it stands; 0: it is not taken. */
static __always_inline u32 choose_any(void)
{
	struct live_config *live = live_config();
	struct choice *choice = choice_here();
	u64 limit;
	u32 weight;

	if (!live || !choice || !live->block_stacks)
		return 0;
	limit = sampler_limit(live->block_stacks);
	sampler_turn(&choice->shorter, limit, bpf_ktime_get_ns());
	weight = 1U << (choice->shorter.doublings & 31);
	if (choice_random(choice) & (weight - 1))
		return 0;
	sampler_count(&choice->shorter, limit);
	return weight;
}

/*
 * The same of the ticks of a CPU's clock, each of which counts, whoever runs: for how many this one
 * stands, 0: it is left out. All since the last one that was taken: so the sum is exact, also when
 * the rate changes.
 */
static __always_inline u64 choose_tick(u64 *ticks, u64 one_in)
{
	u64 count = *ticks + 1;

	*ticks = count < one_in ? count : 0;
	return count < one_in ? 0 : count;
}

/* Sums of these are signed where they are stored. */
static __always_inline u64 weigh(u64 ns, u32 weight)
{
	return ns < WEIGHT_NS_MAX / weight ? ns * weight : WEIGHT_NS_MAX;
}

/*
 * Whether the end of a wait is worth a stack, too: it was long. A CPU that wakes others need not
 * wait itself, so it has a share of its own; what is above has none.
 */
static __always_inline bool choose_waker(u64 ns)
{
	struct live_config *live = live_config();
	struct choice *choice = choice_here();
	u64 now;

	if (!live || !choice || !live->block_stacks ||
	    ns < live->min_block_ns << (choice->longer.doublings & 31))
		return false;
	now = bpf_ktime_get_ns();
	if (now - choice->wakers_ns >= SAMPLER_PERIOD_NS) {
		choice->wakers_ns = now;
		choice->wakers = 0;
	}
	return choice->wakers++ < sampler_limit(live->block_stacks);
}

#endif
