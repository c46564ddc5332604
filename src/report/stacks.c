// SPDX-License-Identifier: Apache-2.0
#include "stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HOT_KEY_BYTES	__builtin_offsetof(struct hot_stack, sum)
#define ALIKE_KEY_BYTES __builtin_offsetof(struct alike_stacks, stack)
#define WAKER_KEY_BYTES __builtin_offsetof(struct hot_waker, sum)

static int by_weight(const struct profile_sum *x, const struct profile_sum *y)
{
	if (x->weight_ns != y->weight_ns)
		return x->weight_ns > y->weight_ns ? -1 : 1;
	return x->count != y->count ? (x->count > y->count ? -1 : 1) : 0;
}

static int by_stack_weight(const void *a, const void *b)
{
	const struct hot_stack *x = a, *y = b;
	int order = by_weight(&x->sum, &y->sum);

	return order ? order : memcmp(x, y, HOT_KEY_BYTES);
}

static int by_waker_weight(const void *a, const void *b)
{
	const struct hot_waker *x = a, *y = b;
	int order = by_weight(&x->sum, &y->sum);

	return order ? order : memcmp(x, y, WAKER_KEY_BYTES);
}

static void sort(struct hash *hash, int (*compare)(const void *, const void *))
{
	if (hash->count)
		qsort(hash->items, hash->count, hash->item_size, compare);
}

static void key_of(const struct profile_sample *sample, struct hot_stack *ret_key)
{
	*ret_key = (struct hot_stack){.stack = sample->stack,
				      .process = sample->process,
				      .kind = sample->kind,
				      .state = sample->state,
				      .stop = sample->stop};
}

int stacks_find(const struct profile *profile, struct hash *ret_stacks)
{
	hash_init(ret_stacks, sizeof(struct hot_stack), HOT_KEY_BYTES, PROFILE_SAMPLES_MAX);
	for (size_t i = 0; i < profile->samples.count; i++) {
		const struct profile_sample *sample = hash_item(&profile->samples, i);
		struct hot_stack key, *stack;

		key_of(sample, &key);
		stack = hash_add(ret_stacks, &key);
		if (!stack)
			return -ENOMEM;
		profile_sum_add(&stack->sum, sample);
	}
	sort(ret_stacks, by_stack_weight);
	return 0;
}

static int add_waker(struct hash *wakers, const struct profile_sample *sample)
{
	struct hot_waker key = {
		.stack = sample->waker_stack, .tid = sample->waker, .kind = sample->waker_kind};
	struct hot_waker *waker;

	if (!sample->waker && !sample->waker_kind)
		return 0; /* not known */
	waker = hash_add(wakers, &key);
	if (!waker)
		return -ENOMEM;
	profile_sum_add(&waker->sum, sample);
	return 0;
}

int stacks_wakers(const struct profile *profile, const struct hot_stack *stack,
		  struct hash *ret_wakers)
{
	const struct profile_stack *found = hash_find(&profile->stacks, &stack->stack);
	const struct profile_sample *sample;
	int err = 0;

	hash_init(ret_wakers, sizeof(struct hot_waker), WAKER_KEY_BYTES, PROFILE_SAMPLES_MAX);
	for (u32 i = found ? found->first_sample : PROFILE_NONE; !err && i != PROFILE_NONE;
	     i = sample->next) {
		struct hot_stack key;

		sample = hash_item(&profile->samples, i);
		key_of(sample, &key);
		if (!memcmp(&key, stack, HOT_KEY_BYTES))
			err = add_waker(ret_wakers, sample);
	}
	sort(ret_wakers, by_waker_weight);
	return err;
}

/* As they read: calls of a function by itself are one. */
static u64 hash_functions(const struct profile *profile, const struct profile_sample *sample)
{
	struct profile_step steps[PROFILE_STEPS_MAX];
	size_t count = profile_steps(profile, sample->stack, sample->stop, steps);
	u64 hash = 0;

	for (size_t i = 0; i < count; i++) {
		if (i && steps[i].function == steps[i - 1].function)
			continue;
		hash = (hash ^ (steps[i].function + 1)) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 29;
	}
	return hash;
}

static void alike_key_of(const struct profile *profile, const struct profile_sample *sample,
			 struct alike_stacks *ret_key)
{
	*ret_key = (struct alike_stacks){.functions = hash_functions(profile, sample),
					 .comm = profile_process(profile, sample)->comm,
					 .kind = sample->kind,
					 .state = sample->state,
					 .stop = sample->stop};
}

static int by_alike_weight(const void *a, const void *b)
{
	const struct alike_stacks *x = a, *y = b;
	int order = by_weight(&x->sum, &y->sum);

	return order ? order : memcmp(&x->stack, &y->stack, sizeof(x->stack));
}

int stacks_find_alike(const struct profile *profile, struct hash *ret_stacks)
{
	hash_init(ret_stacks, sizeof(struct alike_stacks), ALIKE_KEY_BYTES, PROFILE_SAMPLES_MAX);
	for (size_t i = 0; i < profile->samples.count; i++) {
		const struct profile_sample *sample = hash_item(&profile->samples, i);
		struct alike_stacks key, *stacks;

		if (!sample->stack)
			continue;
		alike_key_of(profile, sample, &key);
		stacks = hash_add(ret_stacks, &key);
		if (!stacks)
			return -ENOMEM;
		stacks->is_many |= stacks->sum.count && stacks->process != sample->process;
		stacks->process = sample->process;
		if (sample->weight_ns >= stacks->heaviest_ns) {
			stacks->heaviest_ns = sample->weight_ns;
			stacks->stack = sample->stack;
		}
		profile_sum_add(&stacks->sum, sample);
	}
	sort(ret_stacks, by_alike_weight);
	return 0;
}

int stacks_wakers_alike(const struct profile *profile, const struct alike_stacks *stacks,
			struct hash *ret_wakers)
{
	int err = 0;

	hash_init(ret_wakers, sizeof(struct hot_waker), WAKER_KEY_BYTES, PROFILE_SAMPLES_MAX);
	for (size_t i = 0; !err && i < profile->samples.count; i++) {
		const struct profile_sample *sample = hash_item(&profile->samples, i);
		struct alike_stacks key;

		if (!sample->stack || sample->kind != stacks->kind ||
		    sample->state != stacks->state)
			continue; /* cheaper than its functions */
		alike_key_of(profile, sample, &key);
		if (!memcmp(&key, stacks, ALIKE_KEY_BYTES))
			err = add_waker(ret_wakers, sample);
	}
	sort(ret_wakers, by_waker_weight);
	return err;
}

/* Waiting for work, and for children, whose own stacks say more. */
static int is_told_last(u32 state)
{
	return state_is_idle((int)state) || state == STATE_BLOCKED_CHILD;
}

static int by_group_weight(const void *a, const void *b)
{
	const struct stack_group *x = a, *y = b;
	int last_x = is_told_last(x->state), last_y = is_told_last(y->state);
	int order = last_x != last_y ? last_x - last_y : by_weight(&x->sum, &y->sum);

	if (order)
		return order;
	return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : (x->state < y->state ? -1 : 1);
}

size_t stacks_groups(const struct profile *profile, struct stack_group groups[STACK_GROUPS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < STACK_GROUPS_MAX; i++)
		groups[i] = (struct stack_group){.kind = (u32)i / STATE_LIMIT,
						 .state = (u32)i % STATE_LIMIT};
	for (size_t i = 0; i < profile->samples.count; i++) {
		const struct profile_sample *sample = hash_item(&profile->samples, i);

		profile_sum_add(&groups[sample->kind * STATE_LIMIT + sample->state].sum, sample);
	}
	for (size_t i = 0; i < STACK_GROUPS_MAX; i++)
		if (groups[i].sum.count)
			groups[count++] = groups[i];
	qsort(groups, count, sizeof(groups[0]), by_group_weight);
	return count;
}

struct part_reader {
	const struct profile *profile;
	bool by_module;
	struct hash *parts;
	double weighted;
};

/* Each part once per sample, however often it is in the stack: its innermost place counts. */
static int add_sample(struct part_reader *reader, const struct profile_sample *sample, u32 number)
{
	const struct profile *profile = reader->profile;
	struct profile_step steps[PROFILE_STEPS_MAX];
	size_t count = profile_steps(profile, sample->stack, sample->stop, steps);
	double weight = (double)sample->weight_ns;

	for (size_t i = 0; i < count; i++, weight /= 2) {
		u32 index = reader->by_module ? profile_function(profile, steps[i].function)->module
					      : steps[i].function;
		struct stack_part *part = hash_add(reader->parts, &index);

		if (!part)
			return -ENOMEM;
		if (part->latest == number)
			continue;
		part->latest = number;
		profile_sum_add(&part->total, sample);
		if (!i)
			profile_sum_add(&part->self, sample);
		part->weighted += weight;
		reader->weighted += weight;
	}
	return 0;
}

static int order_parts(const struct stack_part *x, const struct stack_part *y, enum stacks_sort by)
{
	int order = 0;

	if (by == STACKS_SORT_SELF)
		order = by_weight(&x->self, &y->self);
	else if (by == STACKS_SORT_WEIGHTED && x->weighted != y->weighted)
		order = x->weighted > y->weighted ? -1 : 1;
	if (!order)
		order = by_weight(&x->total, &y->total);
	return order ? order : (x->index < y->index ? -1 : 1);
}

static int compare_parts(const void *a, const void *b, void *by)
{
	return order_parts(a, b, *(const enum stacks_sort *)by);
}

int stacks_parts(const struct profile *profile, const struct stack_group *group,
		 const struct report_options *options, struct hash *ret_parts, double *ret_weighted)
{
	struct part_reader reader = {.profile = profile,
				     .by_module = options->by == STACKS_BY_MODULE,
				     .parts = ret_parts};
	enum stacks_sort sort_by = options->sort;
	int err = 0;

	hash_init(ret_parts, sizeof(struct stack_part), sizeof(u32), 2 * PROFILE_INLINES_MAX);
	for (size_t i = 0; !err && i < profile->samples.count; i++) {
		const struct profile_sample *sample = hash_item(&profile->samples, i);

		if (sample->kind == group->kind && sample->state == group->state)
			err = add_sample(&reader, sample, (u32)i + 1);
	}
	if (ret_parts->count)
		qsort_r(ret_parts->items, ret_parts->count, sizeof(struct stack_part),
			compare_parts, &sort_by);
	*ret_weighted = reader.weighted;
	return err;
}
