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

static void add_holder(struct why *why, const struct cause *cause)
{
	if (why->holder == cause->holder) {
		why->holder_ns += cause->ns;
		return;
	}
	why->is_shared |= why->cause.ns > 0;
	if (why->holder_ns >= cause->ns) {
		why->holder_ns -= cause->ns;
	} else {
		why->holder = cause->holder;
		why->holder_ns = cause->ns - why->holder_ns;
	}
}

/*
 * The heaviest waker of any thread speaks for all. With is_brief a lock is one cause whoever held
 * it, and so is a pool of threads that wait for work, each at its own futex.
 */
static int add(struct hash *whys, const struct cause *cause, u32 process, bool is_brief)
{
	struct cause key = *cause;
	struct why *why;

	key.thread = process;
	if (is_brief)
		key.holder = 0;
	if (is_brief && state_is_idle(cause->state))
		key.object = 0;
	why = hash_add(whys, &key);
	if (!why)
		return -ENOMEM;
	if (cause->waker_ns >= why->cause.waker_ns) {
		why->cause.waker = cause->waker;
		why->cause.waker_kind = cause->waker_kind;
		why->cause.waker_ns = cause->waker_ns;
	}
	add_holder(why, cause);
	add_worst(why, cause);
	why->cause.ns += cause->ns;
	why->cause.count += cause->count;
	return 0;
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
	/* From here on nothing is looked up: the key may say who held it. */
	for (size_t i = 0; i < ret_whys->count; i++) {
		struct why *why = hash_item(ret_whys, i);

		why->cause.holder = why->holder;
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
