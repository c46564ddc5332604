// SPDX-License-Identifier: Apache-2.0
/* The large tables of a session: ledger, calls and faults, added up per thread and cause. */
#include <errno.h>

#include "../base/cleanup.h"
#include "../store/query.h"
#include "digest.h"

struct by_id {
	s64 id; /* the key */
	u32 thread;
};

/* How calls and faults name a thread. */
struct by_identity {
	u64 tid, start_ns, begin_ns; /* the key */
	u32 thread;
};

struct reader {
	struct digest *digest;
	struct hash by_id;
	struct hash by_identity;
};

static int index_threads(struct reader *reader)
{
	const struct digest *digest = reader->digest;

	hash_init(&reader->by_id, sizeof(struct by_id), sizeof(s64), DIGEST_THREADS_MAX);
	hash_init(&reader->by_identity, sizeof(struct by_identity), 3 * sizeof(u64),
		  DIGEST_THREADS_MAX);
	for (size_t i = 0; i < digest->thread_count; i++) {
		const struct thread *thread = &digest->threads[i];
		struct by_identity key = {thread->tid, thread->start_ns, thread->begin_ns, 0};
		struct by_id *id = hash_add(&reader->by_id, &thread->id);
		struct by_identity *identity = hash_add(&reader->by_identity, &key);

		if (!id || !identity)
			return -ENOMEM;
		id->thread = identity->thread = (u32)i;
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

/* Whoever has more weight than all others together stays; as the kernel side does it. */
static void vote(struct cause *cause, u32 waker, u32 waker_kind, u64 ns)
{
	if (cause->waker == waker && cause->waker_kind == waker_kind) {
		cause->waker_ns += ns;
	} else if (cause->waker_ns >= ns) {
		cause->waker_ns -= ns;
	} else {
		cause->waker = waker;
		cause->waker_kind = waker_kind;
		cause->waker_ns = ns - cause->waker_ns;
	}
}

static int on_ledger(sqlite3_stmt *row, void *context)
{
	struct reader *reader = context;
	s64 id = sqlite3_column_int64(row, 1);
	struct by_id *found = hash_find(&reader->by_id, &id);
	u64 state = query_u64(row, 2), ns = query_count(row, 8);
	struct thread *thread;
	struct cause *cause;

	if (!found)
		return 0; /* of nobody: shows as a closure that fails, if it is anyone's */
	thread = &reader->digest->threads[found->thread];
	thread->ledger_ns += ns;
	if (query_count(row, 10) > thread->end_ns)
		thread->end_ns = query_count(row, 10);
	/* What came after the thread's own row, the kernel's counts in it know nothing of. */
	if (thread->end_ns == thread->counted_ns) {
		thread->cpu_ns += is_on_cpu(state) ? ns : 0;
		thread->irq_ns += state == STATE_CPU_IRQ || state == STATE_CPU_SOFTIRQ ? ns : 0;
		thread->runq_ns += is_in_queue(state) ? ns : 0;
	}
	if (!thread->is_wanted ||
	    !digest_window_is_in(reader->digest, sqlite3_column_int64(row, 0)))
		return 0;
	cause = hash_add(&reader->digest->causes,
			 &(struct cause){
				 .thread = found->thread,
				 .state = state < STATE_LIMIT ? (u8)state : STATE_UNATTRIBUTED,
				 .call = (u16)query_u64(row, 3),
				 .object = query_u64(row, 4),
				 .holder = (u32)query_u64(row, 5),
			 });
	if (!cause)
		return -ENOMEM;
	thread->is_present = true;
	cause->ns += ns;
	cause->count += query_count(row, 9);
	vote(cause, (u32)query_u64(row, 6), (u32)query_u64(row, 7), ns);
	return 0;
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
	hash_free(&reader.by_id);
	hash_free(&reader.by_identity);
	return err;
}
