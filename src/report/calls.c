// SPDX-License-Identifier: Apache-2.0
#include "calls.h"

#include <errno.h>
#include <stdlib.h>

static int by_total(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return x->call < y->call ? -1 : x->call > y->call;
}

static int add_thread(const struct digest *digest, const struct thread *thread, struct hash *calls)
{
	for (size_t i = 0; i < thread->call_count; i++) {
		const struct call *call = hash_item(&digest->calls, thread->first_call + i);
		struct call *sum = hash_add(calls, &(struct call){.call = call->call});

		if (!sum)
			return -ENOMEM;
		sum->count += call->count;
		sum->failed += call->failed;
		sum->cpu_ns += call->cpu_ns;
		sum->total_ns += call->total_ns;
	}
	return 0;
}

void calls_init(struct hash *calls)
{
	hash_init(calls, sizeof(struct call), 2 * sizeof(u32), 65536);
}

static int add_threads(const struct digest *digest, size_t first, size_t count, struct hash *calls)
{
	int err = 0;

	for (size_t i = first; !err && i < first + count; i++)
		if (digest_shows(digest, &digest->threads[i]))
			err = add_thread(digest, &digest->threads[i], calls);
	return err;
}

int calls_add_process(const struct digest *digest, const struct process *process,
		      struct hash *calls)
{
	return add_threads(digest, process->first_thread, process->thread_count, calls);
}

static int find(const struct digest *digest, size_t first, size_t count, struct hash *ret_calls)
{
	int err;

	calls_init(ret_calls);
	err = add_threads(digest, first, count, ret_calls);
	if (ret_calls->count)
		qsort(ret_calls->items, ret_calls->count, sizeof(struct call), by_total);
	return err;
}

int calls_find(const struct digest *digest, struct hash *ret_calls)
{
	return find(digest, 0, digest->thread_count, ret_calls);
}

int calls_of_process(const struct digest *digest, const struct process *process,
		     struct hash *ret_calls)
{
	return find(digest, process->first_thread, process->thread_count, ret_calls);
}
