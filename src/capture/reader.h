/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that empties the ring buffers into the queue and does nothing else.
 * Owns its thread and libbpf's ring buffer object. Called by capture.c only.
 */
#ifndef DWELL_CAPTURE_READER_H
#define DWELL_CAPTURE_READER_H

#include "../model/queue.h"

struct reader;

/* nmi_ring_fd: of the programs that can run in NMI; negative: there are none. */
int reader_start(int ring_fd, int nmi_ring_fd, struct queue *queue, struct reader **ret_reader);

/*
 * Waits until half of the queue is free, but not beyond the patience, of which it takes: true if
 * there is room for a batch of rows, which the ring buffer's records leave free.
 */
bool reader_wait_for_room(struct reader *reader, u64 *patience_ns);

/*
 * Records from elsewhere, on the same way: pushed between begin and end. The worker is woken for
 * every so many of them, and by reader_wake(), after the last.
 */
void reader_begin(struct reader *reader);
void reader_push(struct reader *reader, const void *data, size_t size);
void reader_end(struct reader *reader);
void reader_wake(struct reader *reader);
void reader_kick(struct reader *reader);

/* Taken out of the ring so far, and of these what the queue refused, by cause. */
u64 reader_taken(const struct reader *reader);
u64 reader_queue_full(const struct reader *reader);
u64 reader_malformed(const struct reader *reader);

/* Bytes that were in the ring of all programs but NMI's when it was looked at, at most. */
u64 reader_ring_fill_max(const struct reader *reader);

/* Ends the thread where it is; the counts stay readable until reader_free(). */
void reader_stop(struct reader *reader);
void reader_free(struct reader *reader);

#endif
