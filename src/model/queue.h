/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bounded queue between the privileged reader and the unprivileged worker: one producer,
 * one consumer, in memory that both map. It never blocks; what does not fit is refused.
 *
 * Our own, because the two sides do not trust each other: the producer keeps its head to
 * itself, reads nothing of the shared pages but the tail and the counters, and bounds those.
 */
#ifndef DWELL_MODEL_QUEUE_H
#define DWELL_MODEL_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "../../abi/types.h"
#include "record.h"

#define QUEUE_BYTES_MIN	    (64u << 10)
#define QUEUE_BYTES_MAX	    (256u << 20)
#define QUEUE_BYTES_DEFAULT (8u << 20)

struct queue;

/* bytes is a power of two within the limits. Made before the worker is forked: 0 or -errno. */
int queue_create(size_t bytes, struct queue **ret_queue);
void queue_destroy(struct queue *queue);
int queue_keep_from_children(struct queue *queue); /* that are forked from now on: 0 or -errno */

/* Producer's side. */
bool queue_push(struct queue *queue, const void *data, size_t size, u64 now_ns);
void queue_wake(struct queue *queue);	      /* after a batch, not after each record */
size_t queue_room(const struct queue *queue); /* bytes that are free now; 0 if the tail lies */
u64 queue_pushed(const struct queue *queue);
u64 queue_high_water(const struct queue *queue);
size_t queue_bytes(const struct queue *queue);

/* Consumer's side. The data stays valid until the next call of queue_pop(). */
bool queue_peek(struct queue *queue, const void **ret_data, size_t *ret_size);
void queue_pop(struct queue *queue, enum record_verdict verdict, u64 now_ns);
/* After another consumer has died: goes on where that one was. */
void queue_take_over(struct queue *queue);
int queue_wake_fd(const struct queue *queue); /* readable when there may be records */
void queue_clear_wakes(const struct queue *queue);
u64 queue_end(const struct queue *queue); /* of what is queued now, for queue_has_reached() */
bool queue_has_reached(const struct queue *queue, u64 end);

/* Counts kept by the consumer in the shared page; the producer must not believe them blindly. */
struct queue_outcome {
	u64 accepted;
	u64 malformed;
	u64 unknown;
	u64 latency_p99_ns;
};

void queue_outcome(const struct queue *queue, struct queue_outcome *ret_outcome);

#endif
