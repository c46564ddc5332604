// SPDX-License-Identifier: Apache-2.0
#include "stack_ids.h"

struct entry {
	u64 key;
	u64 stack;
};

void stack_ids_init(struct stack_ids *ids, size_t max)
{
	ids->refer = NULL;
	recent_init(&ids->entries, sizeof(struct entry), sizeof(u64), max);
}

void stack_ids_free(struct stack_ids *ids)
{
	recent_free(&ids->entries);
}

void stack_ids_age(struct stack_ids *ids)
{
	recent_age(&ids->entries, NULL);
}

bool stack_ids_put(struct stack_ids *ids, u64 key, u64 stack)
{
	bool is_new;
	struct entry *entry = recent_add(&ids->entries, &key, &is_new);

	if (!entry)
		return false;
	entry->stack = stack;
	return true;
}

bool stack_ids_find(struct stack_ids *ids, u64 key, u64 *ret_stack)
{
	const struct entry *entry = recent_find(&ids->entries, &key, NULL);
	u64 stack = entry ? entry->stack : 0;

	if (!entry || (stack && ids->refer && !ids->refer(ids->refer_context, stack)))
		return false;
	*ret_stack = stack;
	return true;
}
