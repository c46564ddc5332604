// SPDX-License-Identifier: Apache-2.0
/*
 * Mutexes, whose holders are known, and what looks like one but is not.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "oracle.h"

#define WORKERS 4
#define LOCKS	3
#define ROUNDS	100

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

static void *hold(void *unused)
{
	for (int i = 0; i < 10; i++) {
		pthread_mutex_lock(&lock);
		pthread_barrier_wait(&barrier);
		sleep_ms(30);
		pthread_mutex_unlock(&lock);
		pthread_barrier_wait(&barrier);
	}
	return unused;
}

void do_mutex(void)
{
	long long waited = 0;
	pthread_t holder;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&holder, NULL, hold, NULL);
	for (int i = 0; i < 10; i++) {
		long long start;

		pthread_barrier_wait(&barrier);
		start = now();
		pthread_mutex_lock(&lock);
		waited += now() - start;
		pthread_mutex_unlock(&lock);
		pthread_barrier_wait(&barrier);
	}
	pthread_join(holder, NULL);
	truth("blocked.lock", waited);
}

/* --- holders ---------------------------------------------------------------------------- */

struct worker {
	pthread_t thread;
	pid_t tid;
	int number;
	struct {
		long long ns, count;
	} blocks[LOCKS][WORKERS]; /* by lock, and by who held it */
	long again; /* woken, and somebody else was faster: blocked once more, by nobody knows whom
		     */
};

static pthread_mutex_t locks[LOCKS];
static _Atomic(struct worker *) owners[LOCKS]; /* written by who holds the lock */

/* The last one lends its holder the priority of who waits: another futex operation. */
static void make_locks(void)
{
	pthread_mutexattr_t lends;

	pthread_mutexattr_init(&lends);
	pthread_mutexattr_setprotocol(&lends, PTHREAD_PRIO_INHERIT);
	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_init(&locks[i], i == LOCKS - 1 ? &lends : NULL);
}

/* The calling thread's tid as /proc has it: if that is mounted for another pid namespace, its. */
static pid_t tid_in_proc(void)
{
	char path[64] = "";

	must(readlink("/proc/thread-self", path, sizeof(path) - 1) > 0, "read /proc/thread-self");
	return atoi(strrchr(path, '/') + 1);
}

/* Takes a lock; if that blocked, notes for how long, and who held it when the wait began. */
static void take(struct worker *self, int which)
{
	struct worker *holder = NULL;
	long long start = now();
	long blocks = thread_blocks();

	while (pthread_mutex_trylock(&locks[which])) {
		holder = atomic_load(&owners[which]);
		if (!holder)
			continue; /* about to be released, or not yet signed */
		start = now();
		pthread_mutex_lock(&locks[which]);
		break;
	}
	if (holder && thread_blocks() > blocks) {
		self->blocks[which][holder->number].ns += now() - start;
		self->blocks[which][holder->number].count++;
		self->again += thread_blocks() - blocks - 1;
	}
	atomic_store(&owners[which], self);
}

static void release(int which)
{
	atomic_store(&owners[which], NULL);
	pthread_mutex_unlock(&locks[which]);
}

/* Each takes any of the locks, for 1 to 3 ms; by chance, or they would fall into step. */
static void *contend(void *argument)
{
	struct worker *self = argument;
	unsigned chance = (unsigned)self->number;

	self->tid = tid_in_proc();
	for (int i = 0; i < ROUNDS; i++) {
		int which = rand_r(&chance) % LOCKS;

		take(self, which);
		sleep_ms(1 + rand_r(&chance) % 3);
		release(which);
		sleep_ms(1);
	}
	return NULL;
}

static pthread_mutex_t news_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static int news_count;

/* Waits 20 times for a condition: idleness, although it has a mutex. */
static void *await_news(void *ret_ns)
{
	long long start = now();

	pthread_mutex_lock(&news_lock);
	for (int seen = 0; seen < 20; seen++)
		while (news_count <= seen)
			pthread_cond_wait(&news, &news_lock);
	pthread_mutex_unlock(&news_lock);
	*(long long *)ret_ns = now() - start;
	return NULL;
}

static void spread_news(void)
{
	for (int i = 0; i < 20; i++) {
		sleep_ms(5);
		pthread_mutex_lock(&news_lock);
		news_count++;
		pthread_mutex_unlock(&news_lock);
		pthread_cond_signal(&news);
	}
}

static void tell_blocks(const struct worker *workers)
{
	long long sum = 0, again = 0;

	for (int waiter = 0; waiter < WORKERS; waiter++)
		again += workers[waiter].again;
	truth("again", again);
	for (int waiter = 0; waiter < WORKERS; waiter++)
		for (int which = 0; which < LOCKS; which++)
			for (int holder = 0; holder < WORKERS; holder++) {
				long long ns = workers[waiter].blocks[which][holder].ns;

				if (!ns)
					continue;
				sum += ns;
				printf("lock %#lx %d %d %lld %lld\n", (unsigned long)&locks[which],
				       workers[holder].tid, workers[waiter].tid,
				       workers[waiter].blocks[which][holder].count, ns);
			}
	truth("blocked.lock", sum);
}

/*
 * "lock ADDRESS HOLDER WAITER COUNT NS": so often and so long did thread WAITER wait for the lock
 * while, when the wait began, thread HOLDER had it.
 */
void do_holders(void)
{
	static struct worker workers[WORKERS];
	long long idle = 0, start;
	pthread_t reader;

	make_locks();
	pthread_create(&reader, NULL, await_news, &idle);
	for (int i = 0; i < WORKERS; i++) {
		workers[i].number = i;
		pthread_create(&workers[i].thread, NULL, contend, &workers[i]);
	}
	spread_news();
	start = now();
	pthread_join(reader, NULL);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i].thread, NULL);
	truth("blocked.signalled", idle + now() - start);
	tell_blocks(workers);
}
