/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks as a tree by functions, from the outermost inwards, with what each path weighs. Owns its
 * nodes. Built from a profile by the report and the exporters.
 */
#ifndef DWELL_MODEL_CALLTREE_H
#define DWELL_MODEL_CALLTREE_H

#include "profile.h"

#define CALLTREE_NODES_MAX 4000000

struct calltree_node {
	u32 parent; /* index; of the root PROFILE_NONE */
	u32 function;
	u32 is_inlined;
	/* the key ends here */
	u32 frame;	       /* index of one of its frames; PROFILE_NONE: it has none */
	u32 first_child, next; /* heaviest first, once sorted; PROFILE_NONE: no more */
	u32 child_count;
	struct profile_sum sum;	 /* of all stacks that come through here, once sorted */
	struct profile_sum self; /* of those that end here */
	u64 stack;		 /* id of one that ends here; 0: none */
};

/*
 * Where a stack's innermost step is, below the node of a process, of those that stopped so. Of
 * callers, where its outermost one is, and top is 1 + the kind of the sample.
 */
struct calltree_memo {
	u32 top; /* 1 + the process's node; 0: not known */
	u32 stop;
	u32 node;
	u16 depth, steps; /* from the outermost on */
};

struct calltree {
	struct hash nodes;	     /* struct calltree_node; the first is the root */
	u64 cut;		     /* samples of which the inner end found no room */
	int err;		     /* -ENOMEM: memory was short, which no bound of ours is */
	struct calltree_memo *memos; /* of each stack the last; NULL: none yet, or no memory */
};

/* 0 or -ENOMEM */
int calltree_init(struct calltree *tree);
void calltree_free(struct calltree *tree);

/*
 * With the process as the outermost step if with_process. All samples of a tree are of one profile,
 * which does not change meanwhile.
 */
void calltree_add(struct calltree *tree, const struct profile *profile,
		  const struct profile_sample *sample, bool with_process);

/*
 * The other way round: from the innermost outwards, so many calls at most. Of a wait without the
 * kernel's, if there are others: how it waits is not what is asked.
 */
void calltree_add_callers(struct calltree *tree, const struct profile *profile,
			  const struct profile_sample *sample, size_t most);

/* Children in order, heaviest first, by time or by count: 0, or -ENOMEM, now or before. */
int calltree_sort(struct calltree *tree, const struct profile *profile, bool by_count);

static inline const struct calltree_node *calltree_node(const struct calltree *tree, u32 index)
{
	return hash_item(&tree->nodes, index);
}

#endif
