// SPDX-License-Identifier: Apache-2.0
/* The large tables of a session: ledger, calls and faults, added up per thread and cause. */
#include <errno.h>

#include "../base/cleanup.h"
#include "../store/query.h"
#include "digest.h"

#define SIGNED_MAX (1LL << 61) /* sums of a few do not overflow */

/* How calls and faults name a thread. */
struct by_identity {
	u64 tid, start_ns, account_ns; /* the key */
	u32 thread;
};

struct reader {
	struct digest *digest;
	struct hash by_identity;
};

static int index_threads(struct reader *reader)
{
	const struct digest *digest = reader->digest;

	hash_init(&reader->by_identity, sizeof(struct by_identity), 3 * sizeof(u64),
		  DIGEST_THREADS_MAX);
	for (size_t i = 0; i < digest->thread_count; i++) {
		const struct thread *thread = &digest->threads[i];
		struct by_identity key = {thread->tid, thread->start_ns, thread->account_ns, 0};
		struct by_identity *identity = hash_add(&reader->by_identity, &key);

		if (!identity)
			return -ENOMEM;
		identity->thread = (u32)i;
	}
	return 0;
}

static bool is_on_cpu(u64 state)
{
	return state >= STATE_CPU && state <= STATE_CPU_SOFTIRQ;
}

static bool is_in_queue(u64 state)
{
	return state >= STATE_RUNQ_WOKEN && state <= STATE_RUNQ_THROTTLED;
}

/*
 * Rows may take back what an earlier one said, so they are added up as signed numbers. They are
 * kept in unsigned fields until the last row is read. No sum turns round, whatever the file says.
 */
static void add_signed(u64 *sum, sqlite3_stmt *row, int column)
{
	s64 by = sqlite3_column_int64(row, column), result;

	by = by > SIGNED_MAX ? SIGNED_MAX : by < -SIGNED_MAX ? -SIGNED_MAX : by;
	if (__builtin_add_overflow((s64)*sum, by, &result) || result > SIGNED_MAX)
		result = by > 0 ? SIGNED_MAX : -SIGNED_MAX;
	*sum = (u64)result;
}

/* What stays below zero in the end is damaged. */
static void settle(u64 *sum)
{
	if ((s64)*sum < 0)
		*sum = 0;
}

static int add_waker(struct digest *digest, const struct cause *cause, sqlite3_stmt *row)
{
	struct cause_waker key = {
		.object = cause->object,
		.thread = cause->thread,
		.holder = cause->holder,
		.call = cause->call,
		.state = cause->state,
		.waker = (u32)query_u64(row, 6),
		.waker_kind = (u32)query_u64(row, 7),
	};
	struct cause_waker *waker;

	if (is_on_cpu(cause->state) && !key.waker && !key.waker_kind)
		return 0; /* nobody ends that */
	waker = hash_add(&digest->wakers, &key);
	if (!waker)
		return -ENOMEM;
	add_signed(&waker->ns, row, 8);
	add_signed(&waker->count, row, 9);
	return 0;
}

/* Over the whole session, whatever part of it is shown. */
static void add_to_thread(struct thread *thread, sqlite3_stmt *row, u64 state)
{
	add_signed(&thread->ledger_ns, row, 8);
	if (query_count(row, 10) > thread->end_ns)
		thread->end_ns = query_count(row, 10);
	/* What came after the thread's own row, the kernel's counts in it know nothing of. */
	if (thread->end_ns != thread->counted_ns)
		return;
	if (is_on_cpu(state))
		add_signed(&thread->cpu_ns, row, 8);
	if (state == STATE_CPU_IRQ || state == STATE_CPU_SOFTIRQ)
		add_signed(&thread->irq_ns, row, 8);
	if (is_in_queue(state))
		add_signed(&thread->runq_ns, row, 8);
}

static int on_ledger(sqlite3_stmt *row, void *context)
{
	struct reader *reader = context;
	struct digest *digest = reader->digest;
	s64 index = digest_thread_by_id(digest, sqlite3_column_int64(row, 1));
	u64 state = query_u64(row, 2);
	struct thread *thread;
	struct cause key, *cause;

	if (index < 0)
		return 0; /* of nobody: shows as a closure that fails, if it is anyone's */
	thread = &digest->threads[index];
	add_to_thread(thread, row, state);
	if (!thread->is_wanted || !digest_window_is_in(digest, sqlite3_column_int64(row, 0)))
		return 0;
	key = (struct cause){
		.thread = (u32)index,
		.state = state < STATE_LIMIT ? (u8)state : STATE_UNATTRIBUTED,
		.call = (u16)query_u64(row, 3),
		.object = query_u64(row, 4),
		.holder = (u32)query_u64(row, 5),
	};
	if (key.holder == thread->tid)
		key.holder = 0; /* nobody holds a lock against himself: the holder is not known */
	cause = hash_add(&digest->causes, &key);
	if (!cause)
		return -ENOMEM;
	thread->is_present = true;
	add_signed(&cause->ns, row, 8);
	add_signed(&cause->count, row, 9);
	return add_waker(digest, &key, row);
}

/* Sums are complete: who ended most of each cause's time. */
static void settle_ledger(struct digest *digest)
{
	for (size_t i = 0; i < digest->thread_count; i++) {
		struct thread *thread = &digest->threads[i];

		settle(&thread->ledger_ns);
		settle(&thread->cpu_ns);
		settle(&thread->irq_ns);
		settle(&thread->runq_ns);
	}
	for (size_t i = 0; i < digest->causes.count; i++) {
		struct cause *cause = hash_item(&digest->causes, i);

		settle(&cause->ns);
		settle(&cause->count);
	}
	for (size_t i = 0; i < digest->wakers.count; i++) {
		struct cause_waker *waker = hash_item(&digest->wakers, i);
		struct cause *cause = hash_find(&digest->causes, waker);

		settle(&waker->ns);
		settle(&waker->count);
		if (!cause || waker->ns <= cause->waker_ns || !waker->waker_kind)
			continue;
		cause->waker = waker->waker;
		cause->waker_kind = waker->waker_kind;
		cause->waker_ns = waker->ns;
	}
}

static struct thread *identified(struct reader *reader, sqlite3_stmt *row, u32 *ret_index)
{
	struct by_identity key = {query_count(row, 1), query_count(row, 2), query_count(row, 3), 0};
	struct by_identity *found = hash_find(&reader->by_identity, &key);

	if (!found || !digest_window_is_in(reader->digest, sqlite3_column_int64(row, 0)))
		return NULL;
	*ret_index = found->thread;
	return &reader->digest->threads[found->thread];
}

static int on_call(sqlite3_stmt *row, void *context)
{
	struct reader *reader = context;
	struct call key = {0}, *call;
	struct thread *thread = identified(reader, row, &key.thread);

	if (!thread || !thread->is_wanted)
		return 0;
	key.call = (u32)query_u64(row, 4);
	call = hash_add(&reader->digest->calls, &key);
	if (!call)
		return -ENOMEM;
	call->count += query_count(row, 5);
	call->failed += query_count(row, 6);
	call->cpu_ns += query_count(row, 7);
	call->total_ns += query_count(row, 8);
	return 0;
}

static int on_faults(sqlite3_stmt *row, void *context)
{
	struct reader *reader = context;
	u32 index;
	struct thread *thread = identified(reader, row, &index);

	if (!thread)
		return 0;
	thread->faults.begun += query_count(row, 4);
	thread->faults.ended += query_count(row, 5);
	thread->faults.failed += query_count(row, 6);
	return 0;
}

int digest_read_ledger(sqlite3 *db, struct digest *digest)
{
	struct reader reader = {.digest = digest};
	int err = index_threads(&reader);

	if (!err)
		err = query_table(db, "ledger",
				  "window, thread, state, call, object, holder, waker, waker_kind, "
				  "ns, count, end_ns",
				  NULL, on_ledger, &reader);
	if (!err)
		err = query_table(db, "calls",
				  "window, thread_tid, thread_start_ns, thread_begin_ns, call, "
				  "count, failed, cpu_ns, total_ns",
				  NULL, on_call, &reader);
	if (!err)
		err = query_table(db, "faults",
				  "window, thread_tid, thread_start_ns, thread_begin_ns, begun, "
				  "ended, failed",
				  NULL, on_faults, &reader);
	settle_ledger(digest);
	hash_free(&reader.by_identity);
	return err;
}
