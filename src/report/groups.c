// SPDX-License-Identifier: Apache-2.0
#include "groups.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/text.h"

const char *const group_by_words[] = {
#define KEY(NAME, name, column, fit) [PROCESS_KEY_##NAME] = (name),
	PROCESS_KEYS(KEY)
#undef KEY
		[GROUP_BY_PID] = "pid",
	[GROUP_BY_COUNT] = NULL,
};

static u32 key_of(const struct digest *digest)
{
	return digest->options->group_by ? digest->options->group_by - 1 : PROCESS_KEY_SERVICE;
}

const char *groups_by(const struct digest *digest)
{
	return group_by_words[key_of(digest)];
}

void groups_name(const struct digest *digest, const struct process *process, char *to, size_t size)
{
	u32 key = key_of(digest);

	if (key == GROUP_BY_PID)
		snprintf(to, size, "%s (%u)", process->comm, process->pid);
	else if (key == PROCESS_KEY_COMM)
		text_copy(to, size, process->comm);
	else if (key == PROCESS_KEY_USER && *process->group_name)
		snprintf(to, size, "uid %.20s", process->group_name);
	else
		text_copy(to, size, process->group_name);
	if (!*to)
		text_copy(to, size, process->is_kernel ? "(kernel)" : "(none)");
}

static int by_work(const void *a, const void *b)
{
	const struct process_group *x = a, *y = b;

	if (x->work_ns != y->work_ns)
		return x->work_ns > y->work_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

int groups_find(const struct digest *digest, struct hash *ret_groups)
{
	hash_init(ret_groups, sizeof(struct process_group), DIGEST_TEXT, 2 * DIGEST_THREADS_MAX);
	for (size_t i = 0; i < digest->process_count; i++) {
		const struct process *process = &digest->processes[i];
		char name[DIGEST_TEXT] = "";
		struct process_group *group;

		if (!process->is_present)
			continue;
		groups_name(digest, process, name, sizeof(name));
		group = hash_add(ret_groups, name);
		if (!group) {
			hash_free(ret_groups);
			return -ENOMEM;
		}
		group->processes++;
		group->threads += process->present;
		group->work_ns += process->work_ns;
		account_add(&group->account, &process->account);
	}
	if (ret_groups->count)
		qsort(ret_groups->items, ret_groups->count, sizeof(struct process_group), by_work);
	return 0;
}
