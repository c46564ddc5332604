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

	if (!node && !hash_is_full(&tree->nodes))
		tree->err = -ENOMEM;
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
	child_of(tree, PROFILE_NONE, PROFILE_NONE, false, PROFILE_NONE);
	return tree->err;
}

void calltree_free(struct calltree *tree)
{
	hash_free(&tree->nodes);
	free(tree->memos);
	tree->memos = NULL;
}

/* PROFILE_NONE: no room, or more steps than a stack may have */
static u32 add_frame(struct calltree *tree, const struct profile *profile, u32 frame,
		     struct calltree_memo *memo)
{
	struct profile_step steps[PROFILE_INLINED_MAX + 1];
	size_t left = profile_frame_steps(profile, frame, steps, ARRAY_SIZE(steps));

	memo->depth++;
	memo->steps = (u16)(memo->steps + left);
	if (memo->depth > PROFILE_DEPTH_MAX || memo->steps > PROFILE_STEPS_MAX - 1)
		return PROFILE_NONE;
	while (left && memo->node != PROFILE_NONE) {
		const struct profile_step *step = &steps[--left];

		memo->node =
			child_of(tree, memo->node, step->function, step->is_inlined, step->frame);
	}
	return memo->node;
}

/*
 * The node of a stack, from that of the next caller whose node is known: callers have many stacks
 * in common. PROFILE_NONE: it is damaged, or does not fit, and is to be walked step by step.
 */
static u32 place_stack(struct calltree *tree, const struct profile *profile, u32 top,
		       const struct profile_sample *sample)
{
	const struct profile_stack *stacks = (void *)profile->stacks.items;
	const struct profile_stack *stack = hash_find(&profile->stacks, &sample->stack);
	struct calltree_memo memo = {.top = top + 1, .stop = sample->stop, .node = top};
	u32 chain[PROFILE_DEPTH_MAX];
	size_t count = 0;

	for (;; stack = stack->parent == PROFILE_NONE ? NULL : &stacks[stack->parent]) {
		const struct calltree_memo *known = stack ? &tree->memos[stack - stacks] : NULL;

		if (!stack || stack->frame == PROFILE_NONE || count == PROFILE_DEPTH_MAX)
			return PROFILE_NONE;
		if (known->top == memo.top && known->stop == memo.stop) {
			memo = *known;
			break;
		}
		chain[count++] = (u32)(stack - stacks);
		if (!stack->parent_id) {
			if (!profile_stop_is_complete(sample->stop))
				memo.node = child_of(tree, top, profile->stop_marks[sample->stop],
						     false, PROFILE_NONE);
			break;
		}
	}
	while (count-- && memo.node != PROFILE_NONE) {
		if (add_frame(tree, profile, stacks[chain[count]].frame, &memo) == PROFILE_NONE)
			return PROFILE_NONE;
		tree->memos[chain[count]] = memo;
	}
	return memo.node;
}

/* Step by step: the innermost node that found room. */
static u32 place_steps(struct calltree *tree, const struct profile *profile, u32 top,
		       const struct profile_sample *sample)
{
	struct profile_step steps[PROFILE_STEPS_MAX];
	size_t left = profile_steps(profile, sample->stack, sample->stop, steps);
	u32 at = top, next = top;

	while (left && next != PROFILE_NONE) {
		const struct profile_step *step = &steps[--left];

		next = child_of(tree, at, step->function, step->is_inlined, step->frame);
		if (next != PROFILE_NONE)
			at = next;
	}
	tree->cut += next == PROFILE_NONE ? sample->count : 0;
	return at;
}

void calltree_add(struct calltree *tree, const struct profile *profile,
		  const struct profile_sample *sample, bool with_process)
{
	struct calltree_node *last;
	u32 top = 0, at = PROFILE_NONE;

	if (!tree->memos)
		tree->memos = calloc(profile->stacks.count + 1, sizeof(*tree->memos));
	if (with_process)
		top = child_of(tree, 0, profile_process(profile, sample)->function, false,
			       PROFILE_NONE);
	if (top != PROFILE_NONE && tree->memos && sample->stack)
		at = place_stack(tree, profile, top, sample);
	if (top == PROFILE_NONE) {
		tree->cut += sample->count;
		at = 0;
	} else if (at == PROFILE_NONE) {
		at = place_steps(tree, profile, top, sample);
	}
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

static u32 place_callers(struct calltree *tree, const struct profile *profile,
			 const struct profile_sample *sample, size_t most)
{
	struct profile_step steps[PROFILE_STEPS_MAX];
	size_t count = profile_steps(profile, sample->stack, sample->stop, steps);
	size_t first = sample->kind == SAMPLE_BLOCKED ? count_kernel(profile, steps, count) : 0;
	u32 at = 0;

	first = first < count ? first : 0;
	for (size_t i = first; i < count && i - first < most; i++) {
		u32 next =
			child_of(tree, at, steps[i].function, steps[i].is_inlined, steps[i].frame);

		if (next == PROFILE_NONE) {
			tree->cut += sample->count;
			break;
		}
		at = next;
	}
	return at;
}

/* Where samples of the same stack, kind and stop went; NULL: not known, or nowhere to note it. */
static struct calltree_memo *memo_of(struct calltree *tree, const struct profile *profile,
				     const struct profile_sample *sample)
{
	const struct profile_stack *stack =
		sample->stack ? hash_find(&profile->stacks, &sample->stack) : NULL;

	if (!tree->memos)
		tree->memos = calloc(profile->stacks.count + 1, sizeof(*tree->memos));
	if (!stack || !tree->memos)
		return NULL;
	return &tree->memos[stack - (const struct profile_stack *)(void *)profile->stacks.items];
}

void calltree_add_callers(struct calltree *tree, const struct profile *profile,
			  const struct profile_sample *sample, size_t most)
{
	struct calltree_memo *memo = memo_of(tree, profile, sample);
	u32 top = 1 + (u32)sample->kind, at;

	if (memo && memo->top == top && memo->stop == sample->stop && memo->node) {
		at = memo->node;
	} else {
		u64 cut = tree->cut;

		at = place_callers(tree, profile, sample, most);
		if (memo && tree->cut == cut)
			*memo = (struct calltree_memo){
				.top = top, .stop = sample->stop, .node = at};
	}
	profile_sum_add(&((struct calltree_node *)hash_item(&tree->nodes, at))->self, sample);
}

/* Callers come before what they call. */
static void sum_up(struct calltree *tree)
{
	for (size_t i = 0; i < tree->nodes.count; i++) {
		struct calltree_node *node = hash_item(&tree->nodes, i);

		node->sum = node->self;
	}
	for (size_t i = tree->nodes.count; i-- > 1;) {
		const struct calltree_node *node = hash_item(&tree->nodes, i);
		struct calltree_node *parent = hash_item(&tree->nodes, node->parent);

		parent->sum.count = profile_add(parent->sum.count, node->sum.count);
		parent->sum.weight_ns = profile_add(parent->sum.weight_ns, node->sum.weight_ns);
		parent->sum.squares += node->sum.squares;
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

/* The children of each node side by side; ends[i]: where those of node i end. */
static void gather_children(const struct calltree *tree, u32 *indices, u32 *ends)
{
	u32 end = 0;

	for (u32 i = 1; i < tree->nodes.count; i++)
		ends[calltree_node(tree, i)->parent]++;
	for (u32 i = 0; i < tree->nodes.count; i++) {
		u32 children = ends[i];

		ends[i] = end; /* so far where they begin */
		end += children;
	}
	for (u32 i = 1; i < tree->nodes.count; i++)
		indices[ends[calltree_node(tree, i)->parent]++] = i;
}

static void link_children(struct calltree *tree, struct calltree_node *parent, const u32 *children,
			  u32 count)
{
	for (u32 i = 0; i < count; i++) {
		struct calltree_node *node = hash_item(&tree->nodes, children[i]);

		node->next = parent->first_child;
		parent->first_child = children[i];
	}
	parent->child_count = count;
}

int calltree_sort(struct calltree *tree, const struct profile *profile, bool by_count)
{
	struct order order = {tree, profile, by_count};
	_cleanup_free_ u32 *indices = calloc(tree->nodes.count, sizeof(*indices));
	_cleanup_free_ u32 *ends = calloc(tree->nodes.count, sizeof(*ends));
	u32 begin = 0;

	if (!indices || !ends)
		tree->err = -ENOMEM;
	if (tree->err)
		return tree->err;
	sum_up(tree);
	gather_children(tree, indices, ends);
	for (u32 i = 0; i < tree->nodes.count; i++) {
		u32 count = ends[i] - begin;

		if (count > 1) /* most have one */
			qsort_r(indices + begin, count, sizeof(*indices), by_weight, &order);
		link_children(tree, hash_item(&tree->nodes, i), indices + begin, count);
		begin = ends[i];
	}
	return 0;
}
