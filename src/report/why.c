// SPDX-License-Identifier: Apache-2.0
#include "why.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Threads come one after the other, each with all its causes. */
static void add_worst(struct why *why, const struct cause *cause)
{
	if (why->latest != cause->thread)
		why->latest_ns = 0;
	why->latest = cause->thread;
	why->latest_ns += cause->ns;
	if (why->latest_ns >= why->worst_ns) {
		why->worst = why->latest;
		why->worst_ns = why->latest_ns;
	}
}

/*
 * With is_brief a lock is one cause whoever held it, and so is a pool of threads that wait for
 * work, each at its own futex.
 */
static struct cause key_of(const struct cause *cause, u32 process, bool is_brief)
{
	struct cause key = *cause;

	key.thread = process;
	if (is_brief)
		key.holder = 0;
	if (is_brief && state_is_idle(cause->state))
		key.object = 0;
	return key;
}

static int add(struct hash *whys, const struct cause *cause, u32 process, bool is_brief)
{
	struct cause key = key_of(cause, process, is_brief);
	struct why *why = hash_add(whys, &key);

	if (!why)
		return -ENOMEM;
	if (cause->waker_ns >= why->cause.waker_ns) {
		why->cause.waker = cause->waker;
		why->cause.waker_kind = cause->waker_kind;
		why->cause.waker_ns = cause->waker_ns;
	}
	add_worst(why, cause);
	why->cause.ns += cause->ns;
	why->cause.count += cause->count;
	return 0;
}

/* The time of a cause by who held it, or who ended it; opens with its key. */
struct share {
	u32 why;
	u32 is_holder;
	struct {
		u32 tid, kind;
	} of;
	/* the key ends here */
	u64 ns;
};
#define SHARE_KEY_BYTES __builtin_offsetof(struct share, ns)

static int add_share(struct hash *shares, const struct hash *whys, const struct why *why,
		     bool is_holder, u32 tid, u32 kind, u64 ns)
{
	struct share *share =
		hash_add(shares, &(struct share){.why = (u32)(why - (struct why *)whys->items),
						 .is_holder = is_holder,
						 .of = {tid, kind}});

	if (!share)
		return -ENOMEM;
	share->ns = profile_add(share->ns, ns);
	return 0;
}

static int add_holders(const struct digest *digest, const struct hash *whys, struct hash *shares)
{
	int err = 0;

	for (size_t i = 0; !err && i < digest->causes.count; i++) {
		const struct cause *cause = hash_item(&digest->causes, i);
		const struct cause key =
			key_of(cause, digest->threads[cause->thread].process, true);
		const struct why *why = cause->holder ? hash_find(whys, &key) : NULL;

		if (why && digest_shows(digest, &digest->threads[cause->thread]) &&
		    !digest->threads[cause->thread].is_dormant)
			err = add_share(shares, whys, why, true, cause->holder, 0, cause->ns);
	}
	return err;
}

static int add_wakers(const struct digest *digest, struct hash *whys, struct hash *shares)
{
	int err = 0;

	for (size_t i = 0; !err && i < digest->wakers.count; i++) {
		const struct cause_waker *waker = hash_item(&digest->wakers, i);
		const struct thread *thread = &digest->threads[waker->thread];
		const struct cause cause = {
			.object = waker->object, .call = waker->call, .state = waker->state};
		const struct cause key = key_of(&cause, thread->process, true);
		struct why *why = waker->ns ? hash_find(whys, &key) : NULL;

		if (!why || thread->is_dormant || !digest_shows(digest, thread))
			continue;
		if (waker->waker_kind < WHY_KINDS)
			why->kind_ns[waker->waker_kind] += waker->ns;
		if (waker->waker)
			err = add_share(shares, whys, why, false, waker->waker, waker->waker_kind,
					waker->ns);
	}
	return err;
}

static void insert(struct why_culprit list[WHY_CULPRITS], const struct share *share)
{
	size_t at = WHY_CULPRITS;

	while (at && list[at - 1].ns < share->ns)
		at--;
	if (at == WHY_CULPRITS)
		return;
	memmove(&list[at + 1], &list[at], (WHY_CULPRITS - 1 - at) * sizeof(list[0]));
	list[at] = (struct why_culprit){share->of.tid, share->of.kind, share->ns};
}

/* Who is to blame for each, by time. */
static int find_culprits(const struct digest *digest, struct hash *whys)
{
	struct hash shares;
	int err;

	hash_init(&shares, sizeof(struct share), SHARE_KEY_BYTES, DIGEST_ROWS_MAX);
	err = add_holders(digest, whys, &shares);
	if (!err)
		err = add_wakers(digest, whys, &shares);
	for (size_t i = 0; !err && i < shares.count; i++) {
		const struct share *share = hash_item(&shares, i);
		struct why *why = hash_item(whys, share->why);

		insert(share->is_holder ? why->holders : why->wakers, share);
	}
	hash_free(&shares);
	return err;
}

static int by_ns(const void *a, const void *b)
{
	const struct cause *x = &((const struct why *)a)->cause;
	const struct cause *y = &((const struct why *)b)->cause;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return memcmp(x, y, CAUSE_KEY_BYTES);
}

static int by_interest(const void *a, const void *b)
{
	int idle_a = state_is_idle(((const struct why *)a)->cause.state);
	int idle_b = state_is_idle(((const struct why *)b)->cause.state);

	return idle_a != idle_b ? idle_a - idle_b : by_ns(a, b);
}

static void init(struct hash *whys)
{
	hash_init(whys, sizeof(struct why), CAUSE_KEY_BYTES, DIGEST_ROWS_MAX);
}

static int add_thread(const struct digest *digest, const struct thread *thread, struct hash *whys,
		      bool waits_only)
{
	int err = 0;

	for (size_t i = 0; !err && i < thread->cause_count; i++) {
		const struct cause *cause = hash_item(&digest->causes, thread->first_cause + i);

		if (!waits_only || cause->state > STATE_CPU_SOFTIRQ)
			err = add(whys, cause, thread->process, waits_only);
	}
	return err;
}

static void sort(struct hash *whys, int (*compare)(const void *, const void *))
{
	if (whys->count)
		qsort(whys->items, whys->count, sizeof(struct why), compare);
}

int why_find(const struct digest *digest, struct hash *ret_whys)
{
	int err = 0;

	init(ret_whys);
	for (size_t i = 0; !err && i < digest->thread_count; i++)
		if (digest_shows(digest, &digest->threads[i]) && !digest->threads[i].is_dormant)
			err = add_thread(digest, &digest->threads[i], ret_whys, true);
	if (!err)
		err = find_culprits(digest, ret_whys);
	/* From here on nothing is looked up: the key may say who held it. */
	for (size_t i = 0; i < ret_whys->count; i++) {
		struct why *why = hash_item(ret_whys, i);

		why->cause.holder = why->holders[0].tid;
	}
	sort(ret_whys, by_interest);
	return err;
}

void why_sort(struct hash *whys)
{
	sort(whys, by_ns);
}

int why_of_process(const struct digest *digest, const struct process *process,
		   struct hash *ret_whys)
{
	int err = 0;

	init(ret_whys);
	for (size_t i = 0; !err && i < process->thread_count; i++) {
		const struct thread *thread = &digest->threads[process->first_thread + i];

		if (digest_shows(digest, thread))
			err = add_thread(digest, thread, ret_whys, false);
	}
	sort(ret_whys, by_ns);
	return err;
}
