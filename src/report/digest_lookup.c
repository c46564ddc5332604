// SPDX-License-Identifier: Apache-2.0
/* Single answers from a digest: a thread, a name, a number of the session's own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/text.h"
#include "../model/syscall.h"
#include "digest.h"

bool digest_window_is_in(const struct digest *digest, s64 window)
{
	return !digest->is_slice || (digest->window_count && window >= digest->first_window &&
				     window <= digest->last_window);
}

const char *digest_meta(const struct digest *digest, const char *key)
{
	struct meta_row row = {0};
	const struct meta_row *found;

	text_copy(row.key, sizeof(row.key), key);
	found = hash_find(&digest->meta, &row);
	return found ? found->value : "";
}

u64 digest_meta_number(const struct digest *digest, const char *key)
{
	u64 number;

	return text_parse_u64(digest_meta(digest, key), 0, 1ULL << 62, &number) ? 0 : number;
}

/* The rest of a window, when the first or the last hook was attached or detached, is no gap. */
#define COVER_SLACK_NS (20 * NS_PER_MS)

const struct cover *digest_partial_cover(const struct digest *digest, const char *part)
{
	for (size_t i = 0; i < digest->cover_count; i++) {
		const struct cover *cover = &digest->covers[i];

		if (!strcmp(cover->part, part))
			return cover->covered_ns + COVER_SLACK_NS < cover->total_ns ? cover : NULL;
	}
	return NULL;
}

const char *digest_call_name(const struct digest *digest, u32 call, char *buf, size_t size)
{
	u64 key = call;
	const struct syscall_row *row = hash_find(&digest->syscalls, &key);

	return row && *row->name ? row->name : syscall_name_into(call, buf, size);
}

bool digest_shows(const struct digest *digest, const struct thread *thread)
{
	return thread->is_wanted && thread->is_present &&
	       (!thread->is_kernel || digest->options->part.kernel);
}

struct thread_id {
	s64 id; /* the key */
	u32 thread;
};

/*
 * dwell numbers threads one after the other, so that an array finds them at once: each of millions
 * of rows looks one up. Of a file with other numbers they are in the hash.
 */
static int index_dense(struct digest *digest)
{
	s64 first = digest->thread_count ? digest->threads[0].id : 0, last = first;

	for (size_t i = 0; i < digest->thread_count; i++) {
		first = digest->threads[i].id < first ? digest->threads[i].id : first;
		last = digest->threads[i].id > last ? digest->threads[i].id : last;
	}
	if (first < 0 || (u64)(last - first) >= 4 * (u64)digest->thread_count + 1024)
		return 0;
	digest->id_count = (size_t)(last - first) + 1;
	digest->first_id = first;
	digest->dense_ids = calloc(digest->id_count, sizeof(u32));
	if (!digest->dense_ids)
		return -ENOMEM;
	for (size_t i = 0; i < digest->thread_count; i++)
		digest->dense_ids[digest->threads[i].id - first] = (u32)i + 1;
	return 0;
}

int digest_index(struct digest *digest)
{
	int err = index_dense(digest);

	hash_init(&digest->by_id, sizeof(struct thread_id), sizeof(s64), DIGEST_THREADS_MAX);
	for (size_t i = 0; !err && !digest->dense_ids && i < digest->thread_count; i++) {
		struct thread_id *id = hash_add(&digest->by_id, &digest->threads[i].id);

		if (!id)
			return -ENOMEM;
		id->thread = (u32)i;
	}
	return err;
}

s64 digest_thread_by_id(const struct digest *digest, s64 id)
{
	const struct thread_id *found;

	if (digest->dense_ids) {
		u64 at = (u64)id - (u64)digest->first_id;

		return at < digest->id_count ? (s64)digest->dense_ids[at] - 1 : -1;
	}
	found = hash_find(&digest->by_id, &id);
	return found ? (s64)found->thread : -1;
}

struct tid_name {
	u64 tid; /* the key */
	u32 thread;
};

/* A tid that was used twice is the later thread's. */
int digest_index_tids(struct digest *digest)
{
	hash_init(&digest->by_tid, sizeof(struct tid_name), sizeof(u64), DIGEST_THREADS_MAX);
	for (size_t i = 0; i < digest->thread_count; i++) {
		const struct thread *thread = &digest->threads[i];
		u64 tid = thread->tid;
		struct tid_name *name = hash_add(&digest->by_tid, &tid);

		if (!name)
			return -ENOMEM;
		if (thread->begin_ns >= digest->threads[name->thread].begin_ns ||
		    digest->threads[name->thread].tid != thread->tid)
			name->thread = (u32)i;
	}
	return 0;
}

const struct thread *digest_by_tid(const struct digest *digest, u32 tid)
{
	u64 key = tid;
	const struct tid_name *found = hash_find(&digest->by_tid, &key);

	return found ? &digest->threads[found->thread] : NULL;
}

static int compare(u64 a, u64 b)
{
	return a < b ? -1 : a > b;
}

/* They are sorted by pid, then start. */
const struct process *digest_process(const struct digest *digest, u64 pid, u64 start_ns)
{
	size_t low = 0, high = digest->process_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct process *process = &digest->processes[middle];
		int order = compare(pid, process->pid);

		if (!order)
			order = compare(start_ns, process->start_ns);
		if (!order)
			return process;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

u64 thread_wall_ns(const struct digest *digest, const struct thread *thread)
{
	u64 begin_ns = thread->begin_ns, end_ns = thread->end_ns;

	if (thread->is_sum || !digest->is_slice)
		return end_ns > begin_ns ? end_ns - begin_ns : 0;
	begin_ns = begin_ns > digest->begin_ns ? begin_ns : digest->begin_ns;
	end_ns = end_ns < digest->end_ns ? end_ns : digest->end_ns;
	return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

void thread_account(const struct digest *digest, const struct thread *thread,
		    struct account *ret_account)
{
	*ret_account = (struct account){0};
	for (size_t i = 0; i < thread->cause_count; i++) {
		const struct cause *cause = hash_item(&digest->causes, thread->first_cause + i);

		ret_account->ns[cause->state] += cause->ns;
		ret_account->count[cause->state] += cause->count;
	}
}
