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

#define CHOICE_PERIOD_NS     100000000ULL
#define CHOICE_PERIODS	     10 /* of these in a second */
#define CHOICE_DOUBLINGS_MAX 20
#define WEIGHT_NS_MAX	     (1ULL << 53) /* 104 days */

#define CHOICE_LONG_SHARES 10

struct choice_share {
	u64 period_ns; /* when the one under way began */
	u32 taken;     /* in this period, since the threshold was last raised */
	u32 doublings; /* of the threshold */
};

struct choice {
	u64 random; /* state of the generator; 0: not seeded yet */
	struct choice_share shorter, longer;
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

/* Marsaglia's xorshift, from a seed that the session has: the same run chooses the same. */
static __always_inline u64 choice_random(struct choice *choice)
{
	u64 x = choice->random;

	if (!x)
		x = unwind_mix(cfg_seed, bpf_get_smp_processor_id()) | 1;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	choice->random = x;
	return x * 0x2545f4914f6cdd1dULL;
}

static __always_inline void choice_turn(struct choice_share *share, u64 limit)
{
	u64 now = bpf_ktime_get_ns();

	if (now - share->period_ns < CHOICE_PERIOD_NS)
		return;
	share->period_ns = now;
	if (share->doublings && share->taken * 4 < limit)
		share->doublings--;
	share->taken = 0;
}

static __always_inline void choice_count(struct choice_share *share, u64 limit)
{
	if (++share->taken < limit || share->doublings >= CHOICE_DOUBLINGS_MAX)
		return;
	share->doublings++;
	share->taken = 0;
}

static __always_inline u64 choose_by(struct choice *choice, struct choice_share *share, u64 limit,
				     u64 least_ns, u64 ns)
{
	u64 threshold;

	choice_turn(share, limit);
	threshold = least_ns << (share->doublings & 31);
	if (ns < threshold && choice_random(choice) % threshold >= ns)
		return 0;
	choice_count(share, limit);
	return ns < threshold ? threshold : ns;
}

/* What a wait of this length stands for; 0: its stack is not taken. */
static __always_inline u64 choose_wait(u64 ns)
{
	struct live_config *live = live_config();
	struct choice *choice = choice_here();
	u64 limit, least_ns;

	if (!live || !choice || !live->block_stacks)
		return 0;
	limit = live->block_stacks / CHOICE_PERIODS + 1;
	least_ns = live->min_block_ns;
	if (ns < least_ns)
		return choose_by(choice, &choice->shorter, limit, least_ns, ns);
	return choose_by(choice, &choice->longer, limit * CHOICE_LONG_SHARES, least_ns, ns);
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
	limit = live->block_stacks / CHOICE_PERIODS + 1;
	choice_turn(&choice->shorter, limit);
	weight = 1U << (choice->shorter.doublings & 31);
	if (choice_random(choice) & (weight - 1))
		return 0;
	choice_count(&choice->shorter, limit);
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
	if (now - choice->wakers_ns >= CHOICE_PERIOD_NS) {
		choice->wakers_ns = now;
		choice->wakers = 0;
	}
	return choice->wakers++ < live->block_stacks / CHOICE_PERIODS + 1;
}

#endif
