// SPDX-License-Identifier: Apache-2.0
#include "calltree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"

#define KEY_BYTES __builtin_offsetof(struct calltree_node, frame)

/* PROFILE_NONE: no room */
static u32 child_of(struct calltree *tree, u32 parent, u32 function, bool is_inlined, u32 frame)
{
	struct calltree_node key = {
		.parent = parent, .function = function, .is_inlined = is_inlined};
	size_t before = tree->nodes.count;
	struct calltree_node *node = hash_add(&tree->nodes, &key);

	if (!node)
		return PROFILE_NONE;
	if (tree->nodes.count > before) {
		node->frame = frame;
		node->first_child = node->next = PROFILE_NONE;
	}
	return (u32)(node - (struct calltree_node *)tree->nodes.items);
}

int calltree_init(struct calltree *tree)
{
	*tree = (struct calltree){0};
	hash_init(&tree->nodes, sizeof(struct calltree_node), KEY_BYTES, CALLTREE_NODES_MAX);
	return child_of(tree, PROFILE_NONE, PROFILE_NONE, false, PROFILE_NONE) == PROFILE_NONE
		       ? -ENOMEM
		       : 0;
}

void calltree_free(struct calltree *tree)
{
	hash_free(&tree->nodes);
}

static void add_to(struct calltree *tree, u32 node, const struct profile_sample *sample)
{
	profile_sum_add(&((struct calltree_node *)hash_item(&tree->nodes, node))->sum, sample);
}

void calltree_add(struct calltree *tree, const struct profile *profile,
		  const struct profile_sample *sample, bool with_process)
{
	struct profile_step steps[PROFILE_STEPS_MAX];
	size_t left = profile_steps(profile, sample->stack, sample->stop, steps);
	struct calltree_node *last;
	u32 at = 0, next = 0;

	add_to(tree, 0, sample);
	if (with_process)
		next = child_of(tree, 0, profile_process(profile, sample)->function, false,
				PROFILE_NONE);
	if (next && next != PROFILE_NONE)
		add_to(tree, at = next, sample);
	while (left && next != PROFILE_NONE) {
		const struct profile_step *step = &steps[--left];

		next = child_of(tree, at, step->function, step->is_inlined, step->frame);
		if (next != PROFILE_NONE)
			add_to(tree, at = next, sample);
	}
	tree->cut += next == PROFILE_NONE ? sample->count : 0;
	last = hash_item(&tree->nodes, at);
	profile_sum_add(&last->self, sample);
	last->stack = sample->stack;
}

static size_t count_kernel(const struct profile *profile, const struct profile_step *steps,
			   size_t count)
{
	size_t kernel = 0;

	while (kernel < count &&
	       profile_function(profile, steps[kernel].function)->look == FUNCTION_KERNEL)
		kernel++;
	return kernel;
}

void calltree_add_callers(struct calltree *tree, const struct profile *profile,
			  const struct profile_sample *sample, size_t most)
{
	struct profile_step steps[PROFILE_STEPS_MAX];
	size_t count = profile_steps(profile, sample->stack, sample->stop, steps);
	size_t first = sample->kind == SAMPLE_BLOCKED ? count_kernel(profile, steps, count) : 0;
	u32 at = 0;

	first = first < count ? first : 0;
	add_to(tree, 0, sample);
	for (size_t i = first; i < count && i - first < most; i++) {
		u32 next =
			child_of(tree, at, steps[i].function, steps[i].is_inlined, steps[i].frame);

		if (next == PROFILE_NONE) {
			tree->cut += sample->count;
			return;
		}
		add_to(tree, at = next, sample);
	}
}

struct order {
	const struct calltree *tree;
	const struct profile *profile;
	bool by_count;
};

/* Lightest first: children are put in front of those that are there. */
static int by_weight(const void *a, const void *b, void *context)
{
	const struct order *order = context;
	const struct calltree_node *x = calltree_node(order->tree, *(const u32 *)a);
	const struct calltree_node *y = calltree_node(order->tree, *(const u32 *)b);
	u64 weight_x = order->by_count ? x->sum.count : x->sum.weight_ns;
	u64 weight_y = order->by_count ? y->sum.count : y->sum.weight_ns;
	int by_name;

	if (weight_x != weight_y)
		return weight_x < weight_y ? -1 : 1;
	by_name = strcmp(profile_function_name(order->profile, y->function),
			 profile_function_name(order->profile, x->function));
	return by_name ? by_name : (*(const u32 *)a > *(const u32 *)b ? -1 : 1);
}

int calltree_sort(struct calltree *tree, const struct profile *profile, bool by_count)
{
	struct order order = {tree, profile, by_count};
	size_t count = tree->nodes.count - 1; /* all but the root */
	_cleanup_free_ u32 *indices = calloc(count + 1, sizeof(*indices));

	if (!indices)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		indices[i] = (u32)i + 1;
	qsort_r(indices, count, sizeof(*indices), by_weight, &order);
	for (size_t i = 0; i < count; i++) {
		struct calltree_node *node = hash_item(&tree->nodes, indices[i]);
		struct calltree_node *parent = hash_item(&tree->nodes, node->parent);

		node->next = parent->first_child;
		parent->first_child = indices[i];
		parent->child_count++;
	}
	return 0;
}
