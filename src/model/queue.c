// SPDX-License-Identifier: Apache-2.0
#include "queue.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../abi/records.h"
#include "../base/clock.h"

#define SLOT_ALIGN	8
#define SLOT_IS_PADDING 0xffffffffu /* the rest up to the end of the ring is unused */

struct slot {
	u32 size; /* of the data behind it, or SLOT_IS_PADDING */
	u32 unused;
	u64 enqueued_ns;
};

/* Waiting times by power of two with four steps each: 25 % is enough for a health figure. */
#define LATENCY_STEPS	4
#define LATENCY_BUCKETS (64 * LATENCY_STEPS)

struct shared {
	_Atomic u64 head; /* written by the producer */
	char apart[4096 - sizeof(u64)];
	_Atomic u64 tail; /* the rest is written by the consumer */
	_Atomic u64 verdicts[RECORD_VERDICTS];
	_Atomic u64 latency[LATENCY_BUCKETS];
};

struct queue {
	struct shared *shared;
	char *ring;
	size_t bytes;
	size_t mapped;
	u64 head; /* the producer's own truth */
	u64 tail; /* the consumer's own truth */
	u64 pushed;
	u64 high_water;
	int wake_fds[2]; /* the producer's end and the consumer's */
};

static size_t slot_bytes(size_t size)
{
	return sizeof(struct slot) + ((size + SLOT_ALIGN - 1) & ~(size_t)(SLOT_ALIGN - 1));
}

int queue_create(size_t bytes, struct queue **ret_queue)
{
	size_t control = (sizeof(struct shared) + 4095) & ~(size_t)4095;
	struct queue *queue;
	int err;
	void *memory;

	if (bytes < QUEUE_BYTES_MIN || bytes > QUEUE_BYTES_MAX || (bytes & (bytes - 1)))
		return -EINVAL;
	queue = calloc(1, sizeof(*queue));
	if (!queue)
		return -ENOMEM;
	/* Not an eventfd: its flags would be the consumer's too, and could be made to block us. */
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, queue->wake_fds)) {
		err = -errno;
		free(queue);
		return err;
	}
	memory = mmap(NULL, control + bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (memory == MAP_FAILED) {
		err = -errno;
		close(queue->wake_fds[0]);
		close(queue->wake_fds[1]);
		free(queue);
		return err;
	}
	queue->shared = memory;
	queue->ring = (char *)memory + control;
	queue->bytes = bytes;
	queue->mapped = control + bytes;
	*ret_queue = queue;
	return 0;
}

void queue_destroy(struct queue *queue)
{
	if (!queue)
		return;
	munmap(queue->shared, queue->mapped);
	close(queue->wake_fds[0]);
	close(queue->wake_fds[1]);
	free(queue);
}

int queue_keep_from_children(struct queue *queue)
{
	return madvise(queue->shared, queue->mapped, MADV_DONTFORK) ? -errno : 0;
}

static struct slot *slot_at(const struct queue *queue, u64 position)
{
	return (struct slot *)(queue->ring + (position & (queue->bytes - 1)));
}

static u64 used_bytes(const struct queue *queue)
{
	return queue->head - atomic_load_explicit(&queue->shared->tail, memory_order_acquire);
}

size_t queue_room(const struct queue *queue)
{
	u64 used = used_bytes(queue);

	return used > queue->bytes ? 0 : queue->bytes - used;
}

bool queue_push(struct queue *queue, const void *data, size_t size, u64 now_ns)
{
	u64 used = used_bytes(queue);
	size_t to_end = queue->bytes - (queue->head & (queue->bytes - 1));
	size_t need = slot_bytes(size);
	size_t padding = to_end < need ? to_end : 0;
	struct slot *slot;

	/* used > bytes: the tail is a lie; then there is no room, which is always safe to say. */
	if (size > RECORD_SIZE_MAX || used > queue->bytes || queue->bytes - used < need + padding)
		return false;
	if (padding) {
		/* A slot header may not fit before the end; the reader knows that too. */
		if (to_end >= sizeof(*slot))
			slot_at(queue, queue->head)->size = SLOT_IS_PADDING;
		queue->head += padding;
	}
	slot = slot_at(queue, queue->head);
	slot->size = (u32)size;
	slot->enqueued_ns = now_ns;
	memcpy(slot + 1, data, size);
	queue->head += need;
	queue->pushed++;
	if (used + padding + need > queue->high_water)
		queue->high_water = used + padding + need;
	atomic_store_explicit(&queue->shared->head, queue->head, memory_order_release);
	return true;
}

void queue_wake(struct queue *queue)
{
	/* Where there is no room for another, the worker has been woken already. */
	if (send(queue->wake_fds[0], "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return;
}

u64 queue_pushed(const struct queue *queue)
{
	return queue->pushed;
}

u64 queue_high_water(const struct queue *queue)
{
	return queue->high_water;
}

size_t queue_bytes(const struct queue *queue)
{
	return queue->bytes;
}

int queue_wake_fd(const struct queue *queue)
{
	return queue->wake_fds[1];
}

void queue_clear_wakes(const struct queue *queue)
{
	char wake;

	while (recv(queue->wake_fds[1], &wake, sizeof(wake), MSG_DONTWAIT) > 0)
		;
}

u64 queue_end(const struct queue *queue)
{
	return atomic_load_explicit(&queue->shared->head, memory_order_acquire);
}

bool queue_has_reached(const struct queue *queue, u64 end)
{
	return queue->tail >= end;
}

/* The tail is the word of a process that may have been taken over: it must be within the queue. */
void queue_take_over(struct queue *queue)
{
	u64 head = queue_end(queue);

	queue->tail = atomic_load_explicit(&queue->shared->tail, memory_order_acquire);
	if (head - queue->tail > queue->bytes || queue->tail % SLOT_ALIGN)
		queue->tail = head;
}

bool queue_peek(struct queue *queue, const void **ret_data, size_t *ret_size)
{
	u64 head = atomic_load_explicit(&queue->shared->head, memory_order_acquire);
	size_t to_end = queue->bytes - (queue->tail & (queue->bytes - 1));
	struct slot *slot;

	if (head == queue->tail)
		return false;
	slot = slot_at(queue, queue->tail);
	if (to_end < sizeof(*slot) || slot->size == SLOT_IS_PADDING) {
		queue->tail += to_end;
		slot = slot_at(queue, queue->tail);
	}
	*ret_data = slot + 1;
	*ret_size = slot->size;
	return true;
}

static unsigned int latency_bucket(u64 ns)
{
	unsigned int power;

	if (ns < LATENCY_STEPS)
		return (unsigned int)ns;
	power = 63 - (unsigned int)__builtin_clzll(ns);
	return power * LATENCY_STEPS + (unsigned int)((ns >> (power - 2)) & (LATENCY_STEPS - 1));
}

static u64 latency_bucket_end(unsigned int bucket)
{
	unsigned int power = bucket / LATENCY_STEPS;

	if (bucket < 2 * LATENCY_STEPS)
		return bucket;
	return (1ULL << power) + ((u64)(bucket % LATENCY_STEPS + 1) << (power - 2));
}

static void count(_Atomic u64 *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

void queue_pop(struct queue *queue, enum record_verdict verdict, u64 now_ns)
{
	struct shared *shared = queue->shared;
	struct slot *slot = slot_at(queue, queue->tail);
	u64 waited = now_ns > slot->enqueued_ns ? now_ns - slot->enqueued_ns : 0;

	count(&shared->latency[latency_bucket(waited)]);
	count(&shared->verdicts[verdict]);
	queue->tail += slot_bytes(slot->size);
	atomic_store_explicit(&shared->tail, queue->tail, memory_order_release);
}

static u64 latency_p99(const struct shared *shared)
{
	u64 total = 0, seen = 0;

	for (unsigned int i = 0; i < LATENCY_BUCKETS; i++)
		total += shared->latency[i];
	for (unsigned int i = 0; i < LATENCY_BUCKETS && total; i++) {
		seen += shared->latency[i];
		if (seen * 100 >= total * 99)
			return latency_bucket_end(i);
	}
	return 0;
}

void queue_outcome(const struct queue *queue, struct queue_outcome *ret_outcome)
{
	const struct shared *shared = queue->shared;

	*ret_outcome = (struct queue_outcome){
		.accepted = shared->verdicts[RECORD_OK],
		.malformed = shared->verdicts[RECORD_MALFORMED],
		.unknown = shared->verdicts[RECORD_UNKNOWN],
		.latency_p99_ns = latency_p99(shared),
	};
}
