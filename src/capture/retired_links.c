// SPDX-License-Identifier: Apache-2.0
/*
 * Links that nobody needs any more. To close one waits until no CPU can be in its program, which
 * takes milliseconds: so threads do it, while the measurement goes on; several wait at once. Owns
 * the threads, which start as they are needed, and the links until they are closed.
 */
#include <pthread.h>
#include <stdlib.h>

#include "internal.h"

#define RETIRED_MAX 1024 /* at a time; one more is closed at once */
#define THREADS_MAX 16

struct retired_links {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t threads[THREADS_MAX];
	size_t thread_count;
	bool is_ending;
	struct kept_link links[RETIRED_MAX]; /* a ring */
	size_t first, count;
	u64 closed; /* descriptors */
};

struct retired_links *retired_links_open(void)
{
	struct retired_links *retired = calloc(1, sizeof(*retired));

	if (!retired)
		return NULL;
	pthread_mutex_init(&retired->lock, NULL);
	pthread_cond_init(&retired->changed, NULL);
	return retired;
}

/* A link is an event and itself. */
static void close_one(struct retired_links *retired, const struct kept_link *one)
{
	u64 descriptors = one->link ? 2 : 1;

	links_close_one(one);
	__atomic_fetch_add(&retired->closed, descriptors, __ATOMIC_RELAXED);
}

/* False: there is none, and no more will come. */
static bool take(struct retired_links *retired, struct kept_link *ret_one)
{
	bool has_one;

	pthread_mutex_lock(&retired->lock);
	while (!retired->count && !retired->is_ending)
		pthread_cond_wait(&retired->changed, &retired->lock);
	has_one = retired->count > 0;
	if (has_one) {
		*ret_one = retired->links[retired->first];
		retired->first = (retired->first + 1) % RETIRED_MAX;
		retired->count--;
	}
	pthread_mutex_unlock(&retired->lock);
	return has_one;
}

static void *run(void *context)
{
	struct kept_link one;

	while (take(context, &one))
		close_one(context, &one);
	return NULL;
}

/* How many wait, with this one; 0: there is no room for it. */
static size_t put(struct retired_links *retired, const struct kept_link *one)
{
	bool has_room;
	size_t count;

	pthread_mutex_lock(&retired->lock);
	has_room = retired->count < RETIRED_MAX;
	if (has_room)
		retired->links[(retired->first + retired->count++) % RETIRED_MAX] = *one;
	count = has_room ? retired->count : 0;
	pthread_cond_signal(&retired->changed);
	pthread_mutex_unlock(&retired->lock);
	return count;
}

static void start_thread(struct retired_links *retired)
{
	if (retired->thread_count < THREADS_MAX &&
	    !pthread_create(&retired->threads[retired->thread_count], NULL, run, retired))
		retired->thread_count++;
}

void retired_links_add(struct retired_links *retired, const struct kept_link *kept)
{
	size_t waiting;

	if (!retired->thread_count)
		start_thread(retired);
	waiting = retired->thread_count ? put(retired, kept) : 0;
	if (!waiting)
		close_one(retired, kept);
	else if (waiting > retired->thread_count)
		start_thread(retired);
}

u64 retired_links_closed(struct retired_links *retired)
{
	return __atomic_load_n(&retired->closed, __ATOMIC_RELAXED);
}

void retired_links_free(struct retired_links *retired)
{
	if (!retired)
		return;
	pthread_mutex_lock(&retired->lock);
	retired->is_ending = true;
	pthread_cond_broadcast(&retired->changed);
	pthread_mutex_unlock(&retired->lock);
	for (size_t i = 0; i < retired->thread_count; i++)
		pthread_join(retired->threads[i], NULL);
	pthread_mutex_destroy(&retired->lock);
	pthread_cond_destroy(&retired->changed);
	free(retired);
}
