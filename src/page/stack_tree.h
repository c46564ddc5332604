/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stacks of the page as one call tree, from the outermost function inwards: a stack is a node.
 * Owns its nodes. Called by the parts that have stacks.
 */
#ifndef DWELL_PAGE_STACK_TREE_H
#define DWELL_PAGE_STACK_TREE_H

#include "data.h"

/* Opens with its key. */
struct tree_node {
	s32 parent; /* PAGE_NONE: a root */
	u32 function;
	u32 inlined;
};

struct tree_function {
	u32 name, module, look;
};

struct stack_tree {
	struct hash nodes; /* struct tree_node, all of it the key */
	struct hash memos; /* nodes by stack and stop */
	struct tree_function *functions;
	size_t function_count;
	s32 *function_at; /* by the profile's function; PAGE_NONE: not used yet */
	u64 cut;	  /* stacks whose inner end found no room */
};

/* 0 or -ENOMEM; to be freed in any case. */
int stack_tree_init(struct stack_tree *tree, const struct page_data *data);
void stack_tree_free(struct stack_tree *tree);

/* The node of a stack that ended so, or -ENOMEM; PAGE_NONE cannot be: a mark says what is missing.
 */
int stack_tree_add(struct page_data *data, u64 stack, u32 stop, s32 *ret_node);

#endif
