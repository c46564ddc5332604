// SPDX-License-Identifier: Apache-2.0
/*
 * Where the records are that were sent: the kernel's counters, the reader's and the worker's, which
 * together say what was processed and what was lost, and why.
 */
#include "capture.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "../../abi/records.h"
#include "../base/cleanup.h"
#include "../base/clock.h"
#include "internal.h"

/* The kernel's own counters, summed over CPUs. */
static int read_kernel_counts(const struct capture *capture, struct health *health)
{
	int cpus = libbpf_num_possible_cpus();
	_cleanup_free_ struct emit_counts *counts = NULL;
	u32 zero = 0;

	if (cpus < 0)
		return cpus;
	counts = calloc((size_t)cpus, sizeof(*counts));
	if (!counts)
		return -ENOMEM;
	if (bpf_map_lookup_elem(bpf_map__fd(object_map(capture, "emit_counts")), &zero, counts))
		return -errno;
	health->sent = health->coalesced = 0;
	for (int i = 0; i < LOSS_COUNT; i++)
		health->lost[i] = 0;
	for (int cpu = 0; cpu < cpus; cpu++) {
		health->sent += counts[cpu].sent;
		for (int id = 0; id < SIGNAL_LIMIT; id++) {
			health->coalesced += counts[cpu].of[id].coalesced;
			health->lost[LOSS_RING_FULL] += counts[cpu].of[id].ring_full;
			health->lost[LOSS_RING_BUSY] += counts[cpu].of[id].ring_busy;
			health->lost[LOSS_NO_STORAGE] += counts[cpu].of[id].no_storage;
			health->lost[LOSS_TORN] += counts[cpu].of[id].torn;
			health->lost[LOSS_NO_ROOM] += counts[cpu].of[id].no_room;
		}
	}
	return 0;
}

/* Of what was sent, what is not in the ring buffer: it was taken, or never got there. */
static u64 not_in_ring(const struct health *health)
{
	return health->taken + health->coalesced + health->lost[LOSS_RING_FULL] +
	       health->lost[LOSS_RING_BUSY] + health->lost[LOSS_NO_STORAGE] +
	       health->lost[LOSS_TORN] + health->lost[LOSS_NO_ROOM];
}

/* Still in the ring buffer, by the kernel's count and the reader's. */
static u64 ring_rest(const struct health *health)
{
	u64 gone = not_in_ring(health);

	return health->sent > gone ? health->sent - gone : 0;
}

static int read_reader_counts(const struct capture *capture, struct health *health)
{
	int err = read_kernel_counts(capture, health);

	health->sent += capture->rows;
	health->taken = reader_taken(capture->reader);
	health->lost[LOSS_QUEUE_FULL] = reader_queue_full(capture->reader);
	health->lost[LOSS_MALFORMED] = reader_malformed(capture->reader);
	health->ring_fill_max = reader_ring_fill_max(capture->reader);
	return err;
}

static u64 least(u64 a, u64 b)
{
	return a < b ? a : b;
}

/*
 * The worker keeps these counts itself; what it cannot have done is not believed. They are read
 * before what was pushed, which grows meanwhile: the other way round they could look impossible.
 */
static void add_worker_counts(const struct capture *capture, struct health *health)
{
	const struct queue_outcome *before = &capture->outcome_before;
	const struct queue *queue = capture->config.queue;
	struct queue_outcome now;
	u64 pushed, accepted, malformed, unknown;

	queue_outcome(queue, &now);
	pushed = queue_pushed(queue) - capture->pushed_before;
	accepted = least(now.accepted - before->accepted, pushed);
	malformed = least(now.malformed - before->malformed, pushed - accepted);
	unknown = least(now.unknown - before->unknown, pushed - accepted - malformed);
	health->processed = accepted;
	health->lost[LOSS_UNKNOWN] = unknown;
	health->lost[LOSS_MALFORMED] += malformed;
	health->lost[LOSS_QUEUE_REST] = pushed - accepted - malformed - unknown;
	health->queue_bytes = queue_bytes(queue);
	health->queue_high_water = queue_high_water(queue);
	health->latency_p99_ns = now.latency_p99_ns;
}

int capture_health(const struct capture *capture, struct health *ret_health)
{
	struct health health = capture->final;
	int err = 0;

	if (!capture->detached) {
		health = (struct health){0};
		if (!capture->reader)
			return -EINVAL;
		err = read_reader_counts(capture, &health);
	}
	add_worker_counts(capture, &health);
	*ret_health = health;
	return err;
}

static bool is_drained(const struct capture *capture)
{
	struct health health = {0};

	if (read_reader_counts(capture, &health))
		return false;
	add_worker_counts(capture, &health);
	return ring_rest(&health) == 0 && health.lost[LOSS_QUEUE_REST] == 0;
}

void counts_drain(struct capture *capture)
{
	const struct timespec pause = {.tv_nsec = 2 * NS_PER_MS};
	u64 deadline = clock_now_ns() + CAPTURE_DRAIN_NS;

	while (!is_drained(capture) && clock_now_ns() < deadline) {
		reader_kick(capture->reader);
		nanosleep(&pause, NULL);
	}
}

void counts_catch_up(const struct capture *capture, u64 limit_ns)
{
	const struct timespec pause = {.tv_nsec = NS_PER_MS};
	u64 deadline = clock_now_ns() + limit_ns;
	struct health begin = {0}, now = {0};

	if (read_reader_counts(capture, &begin))
		return;
	while (not_in_ring(&now) < begin.sent && clock_now_ns() < deadline) {
		reader_kick(capture->reader);
		nanosleep(&pause, NULL);
		now = (struct health){0};
		if (read_reader_counts(capture, &now))
			return;
	}
}

void counts_fix(struct capture *capture)
{
	read_reader_counts(capture, &capture->final);
	capture->final.lost[LOSS_RING_REST] = ring_rest(&capture->final);
}
