// SPDX-License-Identifier: Apache-2.0
/* Waits: their causes, who ran instead, locks with waiters and holders. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../report/format.h"
#include "table.h"

static int by_ns(const void *a, const void *b)
{
	const struct cause *x = *(const struct cause *const *)a,
			   *y = *(const struct cause *const *)b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x < y ? -1 : x > y; /* as they are in the digest */
}

/* Waits of threads that are shown, the longest first, of which it wants some; NULL: no memory. */
static const struct cause **waits(const struct digest *digest, bool (*wants)(const struct cause *),
				  size_t *ret_count)
{
	const struct cause **causes = calloc(digest->causes.count + 1, sizeof(*causes));
	size_t count = 0;

	for (size_t i = 0; causes && i < digest->causes.count; i++) {
		const struct cause *cause = hash_item(&digest->causes, i);

		if (cause->ns && wants(cause) &&
		    digest_shows(digest, &digest->threads[cause->thread]))
			causes[count++] = cause;
	}
	if (count)
		qsort(causes, count, sizeof(*causes), by_ns);
	*ret_count = count;
	return causes;
}

static bool is_wait(const struct cause *cause)
{
	return cause->state >= STATE_RUNQ_WOKEN && !state_is_idle(cause->state);
}

int tables_causes(struct table_list *list)
{
	enum { THREAD, STATE, CALL, OBJECT, HOLDER, WAKER, CONTEXT, NS, COUNT, MEAN };
	static const struct table_column columns[] = {
		[THREAD] = {"thread", "", TABLE_THREAD},
		[STATE] = {"state", "", TABLE_STATE},
		[CALL] = {"call", "system call", TABLE_TEXT},
		[OBJECT] = {"object", "for", TABLE_TEXT},
		[HOLDER] = {"holder", "held by", TABLE_THREAD},
		[WAKER] = {"waker", "ended mostly by", TABLE_THREAD},
		[CONTEXT] = {"context", "as", TABLE_TEXT},
		[NS] = {"ns", "waited", TABLE_NS},
		[COUNT] = {"count", "times", TABLE_COUNT},
		[MEAN] = {"mean_ns", "mean", TABLE_NS},
	};
	struct page_table table = {
		.id = "causes",
		.tab = "waits",
		.title = "Waits by cause",
		.about = "what threads waited for, the longest first; without waiting "
			 "for work",
		.columns = columns,
		.column_count = ARRAY_SIZE(columns)};
	const struct digest *digest = list->data->digest;
	size_t count;
	_cleanup_free_ const struct cause **causes = waits(digest, is_wait, &count);

	table_begin(list, &table);
	table.err = causes ? 0 : -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct cause *cause = causes[i];
		char object[DIGEST_TEXT + 32], call[64];

		if (!table_row(&table))
			continue;
		format_object(digest, cause->object, object, sizeof(object));
		table_at(&table, THREAD, list->data->thread_at[cause->thread]);
		table_number(&table, STATE, cause->state);
		if (cause->call)
			table_text(&table, CALL,
				   digest_call_name(digest, cause->call, call, sizeof(call)));
		table_text(&table, OBJECT, object);
		table_at(&table, HOLDER, page_tid_at(list->data, cause->holder));
		table_at(&table, WAKER, page_tid_at(list->data, cause->waker));
		table_text(&table, CONTEXT, context_name(cause->waker_kind));
		table_number(&table, NS, (s64)cause->ns);
		table_number(&table, COUNT, (s64)cause->count);
		if (cause->count)
			table_number(&table, MEAN, (s64)(cause->ns / cause->count));
	}
	return table_end(list, &table);
}

static int rivals_by_ns(const void *a, const void *b)
{
	const struct rival *x = *(const struct rival *const *)a,
			   *y = *(const struct rival *const *)b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

int tables_rivals(struct table_list *list)
{
	enum { THREAD, RIVAL, NAME, NS };
	static const struct table_column columns[] = {
		[THREAD] = {"thread", "", TABLE_THREAD},
		[RIVAL] = {"rival", "ran instead", TABLE_THREAD},
		[NAME] = {"name", "its name", TABLE_TEXT},
		[NS] = {"ns", "meanwhile", TABLE_NS},
	};
	struct page_table table = {
		.id = "rivals",
		.tab = "waits",
		.title = "Who ran instead",
		.about = "threads that were on a CPU while another one waited for it",
		.columns = columns,
		.column_count = ARRAY_SIZE(columns)};
	const struct digest *digest = list->data->digest;
	_cleanup_free_ const struct rival **rivals =
		calloc(digest->rivals.count + 1, sizeof(*rivals));
	size_t count = 0;

	table_begin(list, &table);
	table.err = rivals ? 0 : -ENOMEM;
	for (size_t i = 0; rivals && i < digest->rivals.count; i++) {
		const struct rival *rival = hash_item(&digest->rivals, i);

		if (digest_shows(digest, &digest->threads[rival->thread]))
			rivals[count++] = rival;
	}
	if (count)
		qsort(rivals, count, sizeof(*rivals), rivals_by_ns);
	for (size_t i = 0; i < count; i++) {
		if (!table_row(&table))
			continue;
		table_at(&table, THREAD, list->data->thread_at[rivals[i]->thread]);
		table_at(&table, RIVAL, page_tid_at(list->data, rivals[i]->tid));
		table_text(&table, NAME, rivals[i]->comm);
		table_number(&table, NS, (s64)rivals[i]->ns);
	}
	return table_end(list, &table);
}

#define LOCKS_MAX 200000
#define HOLDS_MAX 400000 /* by lock and holder */

/* A lock of a process: who waited for it, and who held it meanwhile. Opens with its key. */
struct lock {
	u64 object;
	u32 process, state;
	/* the key ends here */
	u64 ns, count, waiters;
	u64 longest_ns, held_ns; /* of one waiter; of one holder */
	u32 longest;		 /* thread that waited longest, index */
	u32 last_waiter;	 /* 1 + index: causes are by thread */
	u32 holder;		 /* tid of who held it longest; 0: not known */
};

/* Opens with its key, which opens with the lock's. */
struct held {
	u64 object;
	u32 process, state;
	u32 holder, unused;
	/* the key ends here */
	u64 ns;
};

static int locks_by_ns(const void *a, const void *b)
{
	const struct lock *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return memcmp(x, y, offsetof(struct lock, ns));
}

static bool is_lock(const struct cause *cause)
{
	return cause->ns &&
	       (cause->state == STATE_BLOCKED_LOCK || cause->state == STATE_BLOCKED_KERNEL_LOCK);
}

static int add_lock(const struct digest *digest, const struct cause *cause, struct hash *locks,
		    struct hash *holds)
{
	u32 process = digest->threads[cause->thread].process;
	struct held key = {cause->object, process, cause->state, cause->holder, 0, 0};
	struct lock *lock = hash_add(locks, &key);
	struct held *held = hash_add(holds, &key);

	if (!lock || !held)
		return -ENOMEM;
	held->ns += cause->ns;
	lock->ns += cause->ns;
	lock->count += cause->count;
	lock->waiters += lock->last_waiter != cause->thread + 1;
	lock->last_waiter = cause->thread + 1;
	if (cause->ns > lock->longest_ns) {
		lock->longest_ns = cause->ns;
		lock->longest = cause->thread;
	}
	return 0;
}

/* Who held each longest. */
static void find_holders(struct hash *locks, const struct hash *holds)
{
	for (size_t i = 0; i < holds->count; i++) {
		const struct held *held = hash_item(holds, i);
		struct lock *lock = held->holder ? hash_find(locks, held) : NULL;

		if (!lock || held->ns <= lock->held_ns)
			continue;
		lock->holder = held->holder;
		lock->held_ns = held->ns;
	}
}

enum {
	LOCK_NAME,
	LOCK_PROCESS,
	LOCK_STATE,
	LOCK_WAITERS,
	LOCK_COUNT,
	LOCK_NS,
	LOCK_MEAN,
	LOCK_LONGEST,
	LOCK_HOLDER,
	LOCK_HELD,
};

static void fill_lock(struct page_table *table, const struct lock *lock)
{
	const struct page_data *data = table->data;
	char object[DIGEST_TEXT + 32];

	format_object(data->digest, lock->object, object, sizeof(object));
	table_text(table, LOCK_NAME, object);
	table_at(table, LOCK_PROCESS, data->process_at[lock->process]);
	table_number(table, LOCK_STATE, lock->state);
	table_number(table, LOCK_WAITERS, (s64)lock->waiters);
	table_number(table, LOCK_COUNT, (s64)lock->count);
	table_number(table, LOCK_NS, (s64)lock->ns);
	if (lock->count)
		table_number(table, LOCK_MEAN, (s64)(lock->ns / lock->count));
	table_at(table, LOCK_LONGEST, data->thread_at[lock->longest]);
	table_at(table, LOCK_HOLDER, page_tid_at(data, lock->holder));
	if (lock->holder)
		table_number(table, LOCK_HELD, (s64)lock->held_ns);
}

int tables_locks(struct table_list *list)
{
	static const struct table_column columns[] = {
		[LOCK_NAME] = {"lock", "", TABLE_TEXT},
		[LOCK_PROCESS] = {"process", "", TABLE_PROCESS},
		[LOCK_STATE] = {"state", "", TABLE_STATE},
		[LOCK_WAITERS] = {"waiters", "threads that waited", TABLE_COUNT},
		[LOCK_COUNT] = {"count", "waits", TABLE_COUNT},
		[LOCK_NS] = {"ns", "waited", TABLE_NS},
		[LOCK_MEAN] = {"mean_ns", "mean", TABLE_NS},
		[LOCK_LONGEST] = {"longest", "who waited longest", TABLE_THREAD},
		[LOCK_HOLDER] = {"holder", "who held it longest meanwhile", TABLE_THREAD},
		[LOCK_HELD] = {"held_ns", "of the waits", TABLE_NS},
	};
	struct page_table table = {
		.id = "locks",
		.tab = "locks",
		.title = "Locks",
		.about = "by the ledger: waits of all threads for a lock added up",
		.columns = columns,
		.column_count = ARRAY_SIZE(columns)};
	const struct digest *digest = list->data->digest;
	struct hash locks, holds;

	hash_init(&locks, sizeof(struct lock), __builtin_offsetof(struct lock, ns), LOCKS_MAX);
	hash_init(&holds, sizeof(struct held), __builtin_offsetof(struct held, ns), HOLDS_MAX);
	table_begin(list, &table);
	for (size_t i = 0; !table.err && i < digest->causes.count; i++) {
		const struct cause *cause = hash_item(&digest->causes, i);

		if (!is_lock(cause) || !digest_shows(digest, &digest->threads[cause->thread]))
			continue;
		if (hash_is_full(&locks) || hash_is_full(&holds))
			table.left_out++;
		else
			table.err = add_lock(digest, cause, &locks, &holds);
	}
	find_holders(&locks, &holds);
	if (locks.count)
		qsort(locks.items, locks.count, sizeof(struct lock), locks_by_ns);
	for (size_t i = 0; i < locks.count; i++)
		if (table_row(&table))
			fill_lock(&table, hash_item(&locks, i));
	hash_free(&locks);
	hash_free(&holds);
	return table_end(list, &table);
}
