// SPDX-License-Identifier: Apache-2.0
/* A few threads that are always busy, for which many others wait. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/text.h"
#include "finding_wait.h"
#include "format.h"

#define POOL_LEAST    2	   /* threads: an event loop is no pool */
#define POOL_MAX      16   /* threads */
#define POOL_SHARE    50.0 /* percent of the wait that they end */
#define NAMES_SAID    2
#define EACH_SHARE    5.0
#define IDLE_SHARE    10.0 /* percent of its own time that a busy thread waits for work */
#define ANSWERS_LEAST 5	   /* times that a thread was answered: one that waits for work is not */
#define MORE_WAITERS  2	   /* times as many wait as work */

/*
 * The share of its time that a thread waits for work, input or others. Sleep is part of the work of
 * a thread that is handed work.
 */
static double waits_for_work(const struct digest *digest, const struct thread *thread,
			     struct account *ret_account)
{
	static const u8 states[] = {
		STATE_BLOCKED_SIGNALLED, STATE_BLOCKED_IDLE,  STATE_BLOCKED_POLL,
		STATE_BLOCKED_PIPE,	 STATE_BLOCKED_IPC,   STATE_BLOCKED_CHILD,
		STATE_BLOCKED_STOPPED,	 STATE_BLOCKED_OTHER, STATE_UNATTRIBUTED,
	};
	u64 ns = 0;

	thread_account(digest, thread, ret_account);
	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		ns += ret_account->ns[states[i]];
	return percent(ns, account_sum(ret_account));
}

struct pool {
	const struct thread *threads[POOL_MAX];
	size_t count;
	u64 waiters, waited_ns; /* of others, for these threads */
	struct account account;
};

static bool is_of_pool(const struct pool *pool, u32 tid)
{
	for (size_t i = 0; i < pool->count; i++)
		if (pool->threads[i]->tid == tid)
			return true;
	return false;
}

/* Those who end much of the wait and wait for little themselves. */
static void find_workers(const struct digest *digest, const struct waits *waits,
			 const struct wait *wait, struct pool *ret_pool)
{
	size_t count;
	const struct wait_part *part = wait_parts(waits, wait, ROLE_WAKER, &count);

	*ret_pool = (struct pool){0};
	for (size_t i = 0; i < count && ret_pool->count < POOL_MAX; i++) {
		const struct thread *thread =
			part[i].id ? digest_by_tid(digest, (u32)part[i].id) : NULL;
		struct account account;

		if (!thread || !digest_shows(digest, thread) ||
		    percent(part[i].ns, wait->ns) < EACH_SHARE ||
		    waits_for_work(digest, thread, &account) >= IDLE_SHARE)
			continue;
		ret_pool->threads[ret_pool->count++] = thread;
		account_add(&ret_pool->account, &account);
	}
}

/* How long a thread waited for others, and what the pool has to do with it. */
struct waiter {
	u64 ns, ended_ns, ended;
	bool answers; /* the pool waits for it: it gets its work from there */
};

static void add_wait(const struct digest *digest, const struct pool *pool,
		     const struct cause_waker *waker, struct waiter *waiters)
{
	struct waiter *waiter = &waiters[waker->thread];
	const struct thread *answerer;

	if (waker->state != STATE_BLOCKED_SIGNALLED)
		return;
	waiter->ns = profile_add(waiter->ns, waker->ns);
	if (waker->waker_kind != WAKER_THREAD)
		return;
	if (is_of_pool(pool, digest->threads[waker->thread].tid)) {
		answerer = digest_by_tid(digest, waker->waker);
		if (answerer)
			waiters[answerer - digest->threads].answers = true;
	} else if (is_of_pool(pool, waker->waker)) {
		waiter->ended_ns = profile_add(waiter->ended_ns, waker->ns);
		waiter->ended += waker->count;
	}
}

/*
 * Threads of the group that wait for the pool: it mostly ended their waits, time and again, and it
 * does not wait for them, as it does for those to whom it hands work itself.
 */
static int find_waiters(const struct digest *digest, const struct wait *wait, struct pool *pool)
{
	struct waiter *waiters = calloc(digest->thread_count, sizeof(*waiters));

	if (!waiters)
		return -ENOMEM;
	for (size_t i = 0; i < digest->wakers.count; i++)
		add_wait(digest, pool, hash_item(&digest->wakers, i), waiters);
	for (size_t i = 0; i < digest->thread_count; i++) {
		const struct thread *thread = &digest->threads[i];
		const struct waiter *waiter = &waiters[i];

		if (waiter->answers || waiter->ended < ANSWERS_LEAST ||
		    percent(waiter->ended_ns, waiter->ns) < POOL_SHARE ||
		    digest->processes[thread->process].group != wait->group ||
		    !digest_shows(digest, thread))
			continue;
		pool->waiters++;
		pool->waited_ns = profile_add(pool->waited_ns, waiter->ended_ns);
	}
	free(waiters);
	return 0;
}

static void tell_pool(const struct digest *digest, const struct pool *pool, u32 group,
		      struct findings *findings)
{
	u64 whole = account_sum(&pool->account), most = 0;
	int busiest = 0;
	struct finding *finding = finding_add(
		findings, "pool-busy", finding_severity(digest, pool->waited_ns), pool->waited_ns);
	char who[DIGEST_TEXT], names[DIGEST_TEXT] = "";

	if (!finding)
		return;
	for (int i = 0; i < STATE_LIMIT; i++) {
		busiest = pool->account.ns[i] > most ? i : busiest;
		most = pool->account.ns[i] > most ? pool->account.ns[i] : most;
	}
	finding_set_group(finding, digest, hash_item(&digest->groups, group));
	finding_evidence(finding, "pool", pool->threads[0]->comm, (double)pool->count, "count",
			 NULL);
	finding_evidence(finding, "waiters", NULL, (double)pool->waiters, "count", NULL);
	finding_evidence(finding, "waited", NULL, (double)pool->waited_ns, "ns", NULL);
	finding_evidence(finding, "mostly", digest->state_names[busiest], percent(most, whole), "%",
			 BASE_POOL);
	finding_subject_text(finding, who, sizeof(who));
	for (size_t i = 0; i < pool->count && i < NAMES_SAID; i++)
		format_add(names, sizeof(names), "%s%s", i ? ", " : "",
			   ESCAPED(pool->threads[i]->comm));
	if (pool->count > NAMES_SAID)
		format_add(names, sizeof(names), ", …");
	finding_say(
		finding,
		"%s: %zu thread%s (%s) %s always busy, %s of %s time %s, while %s others waited %s "
		"for %s.",
		who, pool->count, pool->count == 1 ? "" : "s", names,
		pool->count == 1 ? "is" : "are", SHARE(most, whole),
		pool->count == 1 ? "its" : "their", ESCAPED(digest->state_names[busiest]),
		NUMBER(pool->waiters), DURATION(pool->waited_ns), pool->count == 1 ? "it" : "them");
	finding_advise(finding, "Make the pool larger, or its tasks shorter.");
}

/* The wait itself need not be told again. */
static void supersede(struct findings *findings, const struct digest *digest,
		      const struct wait *wait)
{
	for (size_t i = 0; i < findings->count; i++) {
		struct finding *finding = &findings->of[i];
		const struct group *group = hash_item(&digest->groups, wait->group);

		if (!strcmp(finding->id, "handover-wait") &&
		    !strcmp(finding->subject.comm, group->comm) &&
		    !strcmp(finding->subject.service, group->service))
			finding->is_told = true;
	}
}

void find_pools(const struct digest *digest, const struct waits *waits, struct findings *findings)
{
	for (size_t i = 0; i < waits->waits.count; i++) {
		const struct wait *wait = hash_item(&waits->waits, i);
		struct pool pool;

		if (wait->kind != WAIT_HANDOVER ||
		    finding_severity(digest, wait->ns) == SEVERITY_INFO)
			continue;
		find_workers(digest, waits, wait, &pool);
		if (pool.count < POOL_LEAST)
			continue;
		if (find_waiters(digest, wait, &pool)) {
			findings->err = -ENOMEM;
			return;
		}
		if (percent(pool.waited_ns, wait->ns) < POOL_SHARE ||
		    pool.waiters < MORE_WAITERS * pool.count)
			continue;
		tell_pool(digest, &pool, wait->group, findings);
		supersede(findings, digest, wait);
	}
}
