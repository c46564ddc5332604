// SPDX-License-Identifier: Apache-2.0
/*
 * Who held up a request, or which file: of what its thread waited. The ledger knows sums of a
 * thread in a window, not of a request, so this is what must be true: of the time that a thread
 * waited in the windows of the request, all but what somebody held it up can be outside of the
 * request, and the rest of the request's own wait is at least his. Where that is little, nobody is
 * named.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../store/query.h"
#include "digest.h"
#include "requests_windows.h"

#define BLAMES_MAX    500000
#define WINDOW_BLAMES 64 /* of a thread in a window: where there are more, nobody is named */
#define CULPRITS      32 /* of one request */
#define PART_LEAST    10 /* a part of less than 1/10 of the latency is not looked at */
#define NAMED_LEAST   4	 /* nor is who has less than 1/4 of the part */

/* What a thread waited in a window, and whether such a wait went on after it. Opens with its key.
 */
struct waited {
	s64 window;
	u32 thread, part;
	/* the key ends here */
	s64 ns;
	u64 end_ns;	/* up to when the window has it; 0: not known */
	bool may_go_on; /* it was in a wait then that this may be of */
};

/* ... because of a thread, or for a file. Opens with its key. */
struct blame {
	s64 window;
	u32 thread, part;
	u64 who;
	/* the key ends here */
	s64 ns;
};

struct candidate {
	u32 request, thread, part;
	struct request_windows windows;
};

struct reading {
	struct digest *digest;
	struct window_list windows;
	struct candidate *candidates;
	size_t candidate_count;
	struct hash waited; /* struct waited */
	struct hash blames; /* struct blame, by thread, part and window when all is read */
};

/* The parts that somebody, or something, can be named for. */
static const u32 parts[] = {REQUEST_PART_LOCK, REQUEST_PART_SIGNALLED, REQUEST_PART_DISK};

/* REQUEST_PART_COUNT: a state of none of these. */
static u32 part_of(u64 state)
{
	switch (state) {
	case STATE_BLOCKED_LOCK:
	case STATE_BLOCKED_KERNEL_LOCK:
		return REQUEST_PART_LOCK;
	case STATE_BLOCKED_SIGNALLED:
		return REQUEST_PART_SIGNALLED;
	case STATE_BLOCKED_DISK:
	case STATE_BLOCKED_PAGEIN:
	case STATE_BLOCKED_DISK_HELD:
		return REQUEST_PART_DISK;
	default:
		return REQUEST_PART_COUNT;
	}
}

/* --- which requests --- */

/*
 * All that its thread did for it, once it had received it, is in this file, and what held the
 * thread up at its begin. In the file before there may be more of both, if the first window has the
 * request, and is not the first one that the thread was measured in.
 */
static bool is_whole(const struct request *request, const struct thread *thread,
		     const struct candidate *candidate)
{
	return request->begin_ns + request->queue_ns >= thread->begin_ns &&
	       request->begin_ns + request_latency(request) <= thread->end_ns &&
	       (candidate->windows.has_before || thread->account_ns >= thread->begin_ns);
}

static u32 largest_part(const struct request *request)
{
	u32 largest = parts[0];

	for (size_t i = 1; i < ARRAY_SIZE(parts); i++)
		if (request->part_ns[parts[i]] > request->part_ns[largest])
			largest = parts[i];
	return largest;
}

/*
 * A request that one thread worked on: its parts are of this thread's ledger. What a connection of
 * its own brings can be there before its thread is.
 */
static const struct thread *thread_of(const struct digest *digest, const struct request *request)
{
	const struct thread *thread = digest_by_tid(digest, request->tid);

	if (request->model != REQUEST_MODEL_THREAD && request->model != REQUEST_MODEL_LOOP)
		return NULL;
	return thread && thread->pid == request->pid && !thread->is_sum &&
			       thread->start_ns <= request->begin_ns + request->queue_ns
		       ? thread
		       : NULL;
}

static int add_candidate(struct reading *reading, u32 index)
{
	const struct digest *digest = reading->digest;
	const struct request *request = &digest->requests.kept[index];
	const struct thread *thread = thread_of(digest, request);
	struct candidate found = {.request = index, .part = largest_part(request)}, *candidate;

	if (!thread || !request->part_ns[found.part] ||
	    request->part_ns[found.part] < request_latency(request) / PART_LEAST)
		return 0;
	if (!request_windows_find(&reading->windows, request->begin_ns,
				  request->begin_ns + request_latency(request), &found.windows) ||
	    !is_whole(request, thread, &found))
		return 0;
	found.thread = (u32)(thread - digest->threads);
	candidate = query_append(&reading->candidates, &reading->candidate_count,
				 sizeof(*candidate), REQUESTS_CULPRITS_MAX);
	if (!candidate)
		return -ENOMEM;
	*candidate = found;
	for (size_t i = 0; i < found.windows.count; i++) {
		struct waited key = {.window = found.windows.rows[i].id,
				     .thread = found.thread,
				     .part = found.part};

		if (!hash_add(&reading->waited, &key))
			return -ENOMEM;
	}
	return 0;
}

static int find_candidates(struct reading *reading)
{
	const struct requests *requests = &reading->digest->requests;
	int err = 0;

	for (size_t i = 0;
	     !err && i < requests->kept_count && reading->candidate_count < REQUESTS_CULPRITS_MAX;
	     i++)
		err = add_candidate(reading, (u32)i);
	return err;
}

/* --- what their threads waited --- */

/* NULL: no request is in this window of this thread. */
static struct waited *waited_at(const struct reading *reading, sqlite3_stmt *row)
{
	s64 thread = digest_thread_by_id(reading->digest, sqlite3_column_int64(row, 1));
	struct waited key = {.window = sqlite3_column_int64(row, 0), .thread = (u32)thread};

	key.part = part_of(query_count(row, 2));
	if (thread < 0 || key.part == REQUEST_PART_COUNT)
		return NULL;
	return hash_find(&reading->waited, &key);
}

/* Corrections are negative. Beyond these bounds a sum is nobody's. */
static void add_ns(s64 *sum, s64 ns)
{
	const s64 most = 1LL << 61;

	if (ns > -most && ns<most && * sum> - most && *sum < most)
		*sum += ns;
}

static int add_blame(struct reading *reading, const struct waited *waited, u64 who, s64 ns)
{
	struct blame key = {.window = waited->window,
			    .thread = waited->thread,
			    .part = waited->part,
			    .who = who};
	struct blame *blame = hash_add(&reading->blames, &key);

	if (!blame)
		return hash_is_full(&reading->blames) ? 0 : -ENOMEM; /* blamed for less */
	add_ns(&blame->ns, ns);
	return 0;
}

/* A row that has the thread's end is that of the wait that lasts then; its name may be provisional.
 */
static void note_end(struct reading *reading, sqlite3_stmt *row)
{
	s64 thread = digest_thread_by_id(reading->digest, sqlite3_column_int64(row, 1));
	struct waited key = {.window = sqlite3_column_int64(row, 0), .thread = (u32)thread};
	u64 state = query_count(row, 2), end_ns = query_count(row, 6);

	for (size_t i = 0; thread >= 0 && i < ARRAY_SIZE(parts); i++) {
		struct waited *waited;

		key.part = parts[i];
		waited = hash_find(&reading->waited, &key);
		if (!waited)
			continue;
		if (end_ns > waited->end_ns)
			waited->end_ns = end_ns;
		waited->may_go_on |= state == STATE_BLOCKED_POLL || part_of(state) == key.part;
	}
}

/* Locks have holders here, disks files; who signalled is in chains. */
static int on_ledger(sqlite3_stmt *row, void *context)
{
	struct reading *reading = context;
	struct waited *waited = waited_at(reading, row);
	u64 who = 0;

	if (!query_is_null(row, 6))
		note_end(reading, row);
	if (!waited)
		return 0;
	add_ns(&waited->ns, sqlite3_column_int64(row, 5));
	if (waited->part == REQUEST_PART_LOCK)
		who = query_count(row, 4);
	else if (waited->part == REQUEST_PART_DISK)
		who = query_u64(row, 3);
	if (waited->part == REQUEST_PART_LOCK &&
	    who == reading->digest->threads[waited->thread].tid)
		who = 0;
	return who ? add_blame(reading, waited, who, sqlite3_column_int64(row, 5)) : 0;
}

/* Who ended the wait, or who held that one up in turn. */
static int on_chain(sqlite3_stmt *row, void *context)
{
	struct reading *reading = context;
	const struct waited *waited = waited_at(reading, row);
	u64 who = query_count(row, 3), behind = query_count(row, 5);
	u32 part = part_of(query_count(row, 4));

	if (!waited || waited->part != REQUEST_PART_SIGNALLED)
		return 0;
	if (behind && (part == REQUEST_PART_LOCK || part == REQUEST_PART_SIGNALLED))
		who = behind;
	if (!who || who == reading->digest->threads[waited->thread].tid)
		return 0;
	return add_blame(reading, waited, who, sqlite3_column_int64(row, 6));
}

/* --- who it was --- */

static int by_place(const void *a, const void *b)
{
	const struct blame *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	if (x->window != y->window)
		return x->window < y->window ? -1 : 1;
	return x->who < y->who ? -1 : x->who > y->who;
}

/* The first blame of this thread, part and window. */
static size_t first_blame(const struct hash *blames, const struct waited *at)
{
	struct blame key = {.window = at->window, .thread = at->thread, .part = at->part};
	size_t low = 0, high = blames->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_place(hash_item(blames, middle), &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Who is blamed for what a request's thread waited in its windows. */
struct accused {
	struct blame sums[CULPRITS];
	size_t count;
	s64 all_ns; /* of more than these, even */
	bool is_too_many;
};

static void add_window(const struct reading *reading, const struct waited *at,
		       struct accused *accused)
{
	const struct hash *blames = &reading->blames;
	size_t first = first_blame(blames, at);

	for (size_t i = first; i < blames->count; i++) {
		const struct blame *blame = hash_item(blames, i);
		size_t k = 0;

		if (blame->thread != at->thread || blame->part != at->part ||
		    blame->window != at->window)
			return;
		if (i - first == WINDOW_BLAMES) {
			accused->is_too_many = true;
			return;
		}
		add_ns(&accused->all_ns, blame->ns);
		while (k < accused->count && accused->sums[k].who != blame->who)
			k++;
		if (k == CULPRITS)
			continue;
		if (k == accused->count)
			accused->sums[accused->count++] = (struct blame){.who = blame->who};
		add_ns(&accused->sums[k].ns, blame->ns);
	}
}

/* What of the request's own wait must be of the one who is blamed for this much. */
static s64 least_of(s64 own_ns, s64 blamed_ns, s64 waited_ns)
{
	if (waited_ns < own_ns - own_ns / 100)
		return 0; /* the ledger has less than the request: something was lost */
	blamed_ns = blamed_ns < waited_ns ? blamed_ns : waited_ns;
	return waited_ns > own_ns ? blamed_ns - (waited_ns - own_ns) : blamed_ns;
}

/*
 * The window before the request's counts where a part of what is blamed may be in it: a wait that
 * ended in the first window of the request had begun there, or the thread was read, a little after
 * that window's end, when the request had begun.
 */
static bool counts_before(const struct reading *reading, const struct candidate *candidate,
			  const struct waited *before)
{
	const struct request *request = &reading->digest->requests.kept[candidate->request];

	if (!before->end_ns || request->begin_ns < before->end_ns)
		return true;
	return candidate->part == REQUEST_PART_SIGNALLED && before->may_go_on;
}

/*
 * Sums over the request's windows: what its thread waited, and because of whom. Who signalled is
 * noted in the window in which the wait ended: what ended before is not of the request.
 */
static s64 add_windows(const struct reading *reading, const struct candidate *candidate,
		       struct accused *accused)
{
	s64 waited_ns = 0;

	for (size_t i = 0; i < candidate->windows.count; i++) {
		struct waited at = {.window = candidate->windows.rows[i].id,
				    .thread = candidate->thread,
				    .part = candidate->part};
		const struct waited *waited = hash_find(&reading->waited, &at);
		bool is_before = !i && candidate->windows.has_before;

		if (is_before && (!waited || !counts_before(reading, candidate, waited)))
			continue;
		if (waited)
			add_ns(&waited_ns, waited->ns);
		if (!is_before || candidate->part != REQUEST_PART_SIGNALLED)
			add_window(reading, &at, accused);
	}
	return waited_ns;
}

static int judge(struct reading *reading, const struct candidate *candidate)
{
	struct requests *requests = &reading->digest->requests;
	const struct request *request = &requests->kept[candidate->request];
	s64 own_ns = (s64)request->part_ns[candidate->part], least_ns, waited_ns;
	struct accused accused = {.count = 0};
	struct request_culprit *culprit;
	size_t most = 0;

	waited_ns = add_windows(reading, candidate, &accused);
	for (size_t i = 1; i < accused.count; i++)
		if (accused.sums[i].ns > accused.sums[most].ns)
			most = i;
	/* More than was waited: a wait began long before the request. */
	if (!accused.count || accused.is_too_many || accused.all_ns > waited_ns + waited_ns / 100)
		return 0;
	least_ns = least_of(own_ns, accused.sums[most].ns, waited_ns);
	if (least_ns <= 0 || least_ns < own_ns / NAMED_LEAST)
		return 0;
	culprit = hash_add(&requests->culprits, &(u64){candidate->request});
	if (!culprit)
		return -ENOMEM;
	culprit->part = candidate->part;
	culprit->who = accused.sums[most].who;
	culprit->least_ns = (u64)least_ns < (u64)own_ns ? (u64)least_ns : (u64)own_ns;
	return 0;
}

static int read_waits(sqlite3 *db, struct reading *reading)
{
	int err = query_table(db, "ledger", "window, thread, state, object, holder, ns, end_ns",
			      NULL, on_ledger, reading);

	if (!err)
		err = query_table(
			db, "chains",
			"window, thread, state, culprit_tid, part_state, part_culprit, ns", NULL,
			on_chain, reading);
	if (err || !reading->blames.count)
		return err;
	qsort(reading->blames.items, reading->blames.count, sizeof(struct blame), by_place);
	for (size_t i = 0; !err && i < reading->candidate_count; i++)
		err = judge(reading, &reading->candidates[i]);
	return err;
}

int requests_find_culprits(sqlite3 *db, struct digest *digest)
{
	struct reading reading = {.digest = digest};
	int err = window_list_read(db, &reading.windows);

	hash_init(&reading.waited, sizeof(struct waited), offsetof(struct waited, ns),
		  REQUESTS_CULPRITS_MAX * REQUEST_WINDOWS_MAX);
	hash_init(&reading.blames, sizeof(struct blame), offsetof(struct blame, ns), BLAMES_MAX);
	if (!err)
		err = find_candidates(&reading);
	if (!err && reading.candidate_count)
		err = read_waits(db, &reading);
	hash_free(&reading.waited);
	hash_free(&reading.blames);
	window_list_free(&reading.windows);
	free(reading.candidates);
	return err;
}
