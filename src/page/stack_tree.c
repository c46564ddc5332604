// SPDX-License-Identifier: Apache-2.0
#include "stack_tree.h"

#include <errno.h>
#include <stdlib.h>

#include "../base/cleanup.h"
#include "../store/query.h"

struct memo {
	u64 stack, stop;
	/* the key ends here */
	s32 node;
};

int stack_tree_init(struct stack_tree *tree, const struct page_data *data)
{
	size_t functions = data->digest->profile.functions.count;

	*tree = (struct stack_tree){0};
	hash_init(&tree->nodes, sizeof(struct tree_node), sizeof(struct tree_node), PAGE_NODES_MAX);
	hash_init(&tree->memos, sizeof(struct memo), 2 * sizeof(u64),
		  PROFILE_STACKS_MAX + PROFILE_STOPS);
	tree->function_at = calloc(functions + 1, sizeof(s32));
	for (size_t i = 0; tree->function_at && i < functions; i++)
		tree->function_at[i] = PAGE_NONE;
	return tree->function_at ? 0 : -ENOMEM;
}

void stack_tree_free(struct stack_tree *tree)
{
	hash_free(&tree->nodes);
	hash_free(&tree->memos);
	free(tree->functions);
	free(tree->function_at);
}

/* Its place among the functions that are used; -ENOMEM. */
static s32 place_function(struct page_data *data, u32 function)
{
	const struct profile *profile = &data->digest->profile;
	struct stack_tree *tree = data->tree;
	const struct profile_function *from = profile_function(profile, function);
	struct tree_function *to;

	if (tree->function_at[function] != PAGE_NONE)
		return tree->function_at[function];
	to = query_append(&tree->functions, &tree->function_count, sizeof(*to),
			  profile->functions.count);
	if (!to)
		return -ENOMEM;
	*to = (struct tree_function){
		.name = page_name(data, profile_text(profile, from->name)),
		.module = page_name(data, profile_module_name(profile, from->module)),
		.look = from->look};
	return tree->function_at[function] = (s32)tree->function_count - 1;
}

static int walk(struct page_data *data, u64 stack, u32 stop, s32 *ret_node)
{
	struct profile_step steps[PROFILE_STEPS_MAX];
	size_t left = profile_steps(&data->digest->profile, stack, stop, steps);
	struct stack_tree *tree = data->tree;
	s32 at = PAGE_NONE;

	while (left--) {
		s32 function = place_function(data, steps[left].function);
		struct tree_node key = {at, (u32)function, steps[left].is_inlined}, *node;

		if (function < 0)
			return function;
		node = hash_add(&tree->nodes, &key);
		if (!node && !hash_is_full(&tree->nodes))
			return -ENOMEM;
		if (!node) {
			tree->cut++;
			break;
		}
		at = (s32)(node - (struct tree_node *)tree->nodes.items);
	}
	*ret_node = at;
	return 0;
}

int stack_tree_add(struct page_data *data, u64 stack, u32 stop, s32 *ret_node)
{
	struct memo key = {.stack = stack, .stop = stop};
	struct memo *memo = hash_find(&data->tree->memos, &key);
	int err;

	if (memo) {
		*ret_node = memo->node;
		return 0;
	}
	err = walk(data, stack, stop, ret_node);
	memo = err ? NULL : hash_add(&data->tree->memos, &key);
	if (memo)
		memo->node = *ret_node;
	return err;
}

int page_write_stacks(struct page_data *data, struct part *part)
{
	static const struct column functions[] = {
		COLUMN("name$", struct tree_function, name),
		COLUMN("module$", struct tree_function, module),
		COLUMN("look", struct tree_function, look),
	};
	static const struct column nodes[] = {
		COLUMN("parent+", struct tree_node, parent),
		COLUMN("function", struct tree_node, function),
		COLUMN("inlined", struct tree_node, inlined),
	};
	const struct stack_tree *tree = data->tree;

	part_text(part, "{\"functions\":");
	part_columns(part, functions, ARRAY_SIZE(functions), tree->functions,
		     sizeof(struct tree_function), tree->function_count);
	part_text(part, ",\"nodes\":");
	part_columns(part, nodes, ARRAY_SIZE(nodes), tree->nodes.items, sizeof(struct tree_node),
		     tree->nodes.count);
	part_text(part, "}");
	page_limit(data, "stacks.nodes", tree->nodes.count, PAGE_NODES_MAX, tree->cut,
		   "stacks: their inner end is missing");
	return 0;
}
