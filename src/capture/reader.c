// SPDX-License-Identifier: Apache-2.0
#include "reader.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../abi/records.h"
#include "../base/capabilities.h"
#include "../base/clock.h"

/*
 * The kernel wakes us only per cfg_wake_bytes, so we look by ourselves this often.
 * Ten wake-ups a second are some 0.01 % of a core.
 */
#define LOOK_EVERY_MS 100
#define FULL_PAUSE_NS (2 * NS_PER_MS)
#define BATCH_MAX     256
#define ROWS_SHARE    8 /* of the queue this part is left to rows that come by reader_push() */

struct reader {
	struct ring_buffer *ring;
	struct queue *queue;
	pthread_t thread;
	pthread_mutex_t pushing; /* the queue takes one producer at a time */
	int epoll_fd;
	int kick_fd;
	u64 now_ns; /* read once per batch */
	u64 batch;  /* records of this batch so far */
	struct {    /* the same of who pushes beside the thread */
		u64 now_ns;
		u64 batch;
	} beside;
	_Atomic bool stop;
	_Atomic u64 taken;
	_Atomic u64 queue_full;
	_Atomic u64 malformed;
	const u64 *consumed, *produced; /* positions in the ring, two pages; NULL: not to be had */
	_Atomic u64 ring_fill_max;
};

static void count(_Atomic u64 *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* With the lock held. */
static void push(struct reader *reader, const void *data, size_t size, u64 now_ns)
{
	count(&reader->taken);
	if (size > RECORD_SIZE_MAX)
		count(&reader->malformed);
	else if (!queue_push(reader->queue, data, size, now_ns))
		count(&reader->queue_full);
}

/* The worker starts on a batch while we go on: under load a look at the ring may never end. */
static void end_batch(struct reader *reader)
{
	if (reader->batch)
		queue_wake(reader->queue);
	reader->batch = 0;
	reader->now_ns = clock_now_ns();
}

static bool has_room_of(struct reader *reader, u64 bytes)
{
	bool has;

	pthread_mutex_lock(&reader->pushing);
	has = queue_room(reader->queue) >= bytes;
	pthread_mutex_unlock(&reader->pushing);
	return has;
}

static bool is_queue_full(struct reader *reader)
{
	return !has_room_of(reader, 2 * RECORD_SIZE_MAX + queue_bytes(reader->queue) / ROWS_SHARE);
}

/*
 * Where the worker is too slow, records stay in the ring buffer: what then finds no room there is
 * lost in the kernel, by whom it concerns, who can still keep its sum.
 */
static int take_record(void *context, void *data, size_t size)
{
	struct reader *reader = context;

	if (reader->stop)
		return -ECANCELED; /* not counted as taken: capture counts the rest */
	if (++reader->batch == BATCH_MAX)
		end_batch(reader);
	pthread_mutex_lock(&reader->pushing);
	push(reader, data, size, reader->now_ns);
	pthread_mutex_unlock(&reader->pushing);
	return is_queue_full(reader) ? -ENOBUFS : 0;
}

bool reader_wait_for_room(struct reader *reader, u64 *patience_ns)
{
	const struct timespec pause = {.tv_nsec = NS_PER_MS / 5};
	u64 bytes = queue_bytes(reader->queue);

	while (!has_room_of(reader, bytes / 2) && *patience_ns) {
		u64 begin = clock_now_ns(), waited;

		queue_wake(reader->queue);
		nanosleep(&pause, NULL);
		waited = clock_now_ns() - begin;
		*patience_ns -= waited < *patience_ns ? waited : *patience_ns;
	}
	return has_room_of(reader, bytes / ROWS_SHARE);
}

void reader_begin(struct reader *reader)
{
	reader->beside.now_ns = clock_now_ns();
	pthread_mutex_lock(&reader->pushing);
}

void reader_push(struct reader *reader, const void *data, size_t size)
{
	push(reader, data, size, reader->beside.now_ns);
	reader->beside.batch++;
}

void reader_end(struct reader *reader)
{
	pthread_mutex_unlock(&reader->pushing);
	if (reader->beside.batch < BATCH_MAX)
		return;
	reader->beside.batch = 0;
	queue_wake(reader->queue);
}

void reader_wake(struct reader *reader)
{
	queue_wake(reader->queue);
}

/* libbpf 1.1 does not tell how full a ring is: its first two pages have both positions. */
static void map_positions(struct reader *reader, int ring_fd)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, 2 * page, PROT_READ, MAP_SHARED, ring_fd, 0);

	if (memory == MAP_FAILED)
		return;
	reader->consumed = memory;
	reader->produced = (const u64 *)((const char *)memory + page);
}

static void unmap_positions(struct reader *reader)
{
	if (reader->consumed)
		munmap((void *)reader->consumed, 2 * (size_t)sysconf(_SC_PAGESIZE));
}

static void note_ring_fill(struct reader *reader)
{
	u64 consumed, fill;

	if (!reader->consumed)
		return;
	consumed = __atomic_load_n(reader->consumed, __ATOMIC_ACQUIRE);
	fill = __atomic_load_n(reader->produced, __ATOMIC_ACQUIRE) - consumed;
	if (fill > reader->ring_fill_max)
		reader->ring_fill_max = fill;
}

static void look(struct reader *reader)
{
	note_ring_fill(reader);
	end_batch(reader);
	if (!is_queue_full(reader))
		ring_buffer__consume(reader->ring);
	end_batch(reader);
}

/* For records, a kick, or the time to look by ourselves: all mean "look". */
static void wait_for_work(struct reader *reader)
{
	const struct timespec pause = {.tv_nsec = FULL_PAUSE_NS};
	struct epoll_event event;
	u64 kicks;

	/* There is work enough, but no room for it. */
	if (is_queue_full(reader))
		nanosleep(&pause, NULL);
	else
		epoll_wait(reader->epoll_fd, &event, 1, LOOK_EVERY_MS);
	if (read(reader->kick_fd, &kicks, sizeof(kicks)) < 0)
		return; /* no kick */
}

static void *run(void *context)
{
	struct reader *reader = context;

	capabilities_keep(0); /* it has its descriptors, and needs no more */
	while (!reader->stop) {
		wait_for_work(reader);
		look(reader);
	}
	return NULL;
}

static int watch(struct reader *reader, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	return epoll_ctl(reader->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* Signals are the main thread's business. */
static int start_thread(struct reader *reader)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&reader->thread, NULL, run, reader);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

void reader_free(struct reader *reader)
{
	ring_buffer__free(reader->ring);
	unmap_positions(reader);
	if (reader->epoll_fd >= 0)
		close(reader->epoll_fd);
	if (reader->kick_fd >= 0)
		close(reader->kick_fd);
	free(reader);
}

int reader_start(int ring_fd, int nmi_ring_fd, struct queue *queue, struct reader **ret_reader)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	int err = 0;

	if (!reader)
		return -ENOMEM;
	reader->queue = queue;
	pthread_mutex_init(&reader->pushing, NULL);
	reader->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	reader->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	reader->ring = ring_buffer__new(ring_fd, take_record, reader, NULL);
	if (!reader->ring || reader->epoll_fd < 0 || reader->kick_fd < 0)
		err = -errno;
	if (!err && nmi_ring_fd >= 0)
		err = ring_buffer__add(reader->ring, nmi_ring_fd, take_record, reader);
	if (!err)
		map_positions(reader, ring_fd);
	if (!err)
		err = watch(reader, ring_buffer__epoll_fd(reader->ring));
	if (!err)
		err = watch(reader, reader->kick_fd);
	if (!err)
		err = start_thread(reader);
	if (err) {
		reader_free(reader);
		return err;
	}
	*ret_reader = reader;
	return 0;
}

void reader_kick(struct reader *reader)
{
	u64 one = 1;

	if (write(reader->kick_fd, &one, sizeof(one)) < 0)
		return; /* full: kicked already */
}

u64 reader_taken(const struct reader *reader)
{
	return reader->taken;
}

u64 reader_queue_full(const struct reader *reader)
{
	return reader->queue_full;
}

u64 reader_malformed(const struct reader *reader)
{
	return reader->malformed;
}

u64 reader_ring_fill_max(const struct reader *reader)
{
	return reader->ring_fill_max;
}

void reader_stop(struct reader *reader)
{
	reader->stop = true;
	reader_kick(reader);
	pthread_join(reader->thread, NULL);
}
