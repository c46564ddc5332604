// SPDX-License-Identifier: Apache-2.0
#include "stack_ids.h"

struct entry {
	u64 key;
	u64 stack;
};

void stack_ids_init(struct stack_ids *ids, size_t max)
{
	ids->refer = NULL;
	hash_init(&ids->young, sizeof(struct entry), sizeof(u64), max);
	hash_init(&ids->old, sizeof(struct entry), sizeof(u64), max);
}

void stack_ids_free(struct stack_ids *ids)
{
	hash_free(&ids->young);
	hash_free(&ids->old);
}

void stack_ids_age(struct stack_ids *ids)
{
	struct hash emptied = ids->old;

	hash_clear(&emptied);
	ids->old = ids->young;
	ids->young = emptied;
}

bool stack_ids_put(struct stack_ids *ids, u64 key, u64 stack)
{
	struct entry *entry;

	if (hash_is_full(&ids->young))
		stack_ids_age(ids);
	entry = hash_add(&ids->young, &key);
	if (!entry)
		return false;
	entry->stack = stack;
	return true;
}

static bool find(struct stack_ids *ids, u64 key, u64 *ret_stack)
{
	const struct entry *entry = hash_find(&ids->young, &key);

	if (entry) {
		*ret_stack = entry->stack;
		return true;
	}
	entry = hash_find(&ids->old, &key);
	if (!entry)
		return false;
	*ret_stack = entry->stack;
	stack_ids_put(ids, key, *ret_stack); /* it is in use, and so outlives the others */
	return true;
}

bool stack_ids_find(struct stack_ids *ids, u64 key, u64 *ret_stack)
{
	u64 stack;

	if (!find(ids, key, &stack) ||
	    (stack && ids->refer && !ids->refer(ids->refer_context, stack)))
		return false;
	*ret_stack = stack;
	return true;
}
