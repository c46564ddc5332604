// SPDX-License-Identifier: Apache-2.0
#include "capture.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../abi/records.h"
#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/log.h"
#include "internal.h"

int capture_open(const struct capture_config *config, struct capture **ret_capture)
{
	char complaint[160];
	struct capture *capture;
	int err = capture_config_check(config, complaint, sizeof(complaint));

	if (err) {
		log_error("cannot start a capture: %s", complaint);
		return err;
	}
	capture = calloc(1, sizeof(*capture));
	if (!capture)
		return -ENOMEM;
	capture->probes = calloc(config->probe_count, sizeof(*capture->probes));
	if (!capture->probes) {
		free(capture);
		return -ENOMEM;
	}
	capture->config = *config;
	if (config->tgid_count)
		memcpy(capture->tgids, config->tgids, config->tgid_count * sizeof(u32));
	capture->config.tgids = capture->tgids;
	for (size_t i = 0; i < config->probe_count; i++) {
		capture->probes[i].spec = &config->probes[i];
		capture->probes[i].link_fd = -1;
	}
	*ret_capture = capture;
	return 0;
}

static size_t probes_on(const struct capture *capture)
{
	size_t count = 0;

	for (size_t i = 0; i < capture->config.probe_count; i++)
		count += probe_is_on(&capture->probes[i]);
	return count;
}

static void switch_off(struct capture_probe *probe, enum gate gate, int err, const char *log)
{
	struct failure *failure = &probe->failure;

	failure->gate = gate;
	failure->err = err < 0 ? -err : err;
	free(failure->log);
	failure->log = log ? strdup(log) : NULL;
	if (failure->log)
		failure_excerpt(failure);
	log_verbose("%s: %s failed: %s%s%s", probe->spec->program, gate_names[gate],
		    strerror(failure->err), log ? "\n" : "", log ? log : "");
}

static bool names(const char *a, const char *b)
{
	return a && b[0] && !strcmp(a, b);
}

/*
 * Switches off whom the failed load names: a program, the users of a map, or all users of an
 * object that is not the main one. Returns how many; 0 means that nothing can be loaded.
 */
static size_t switch_off_culprits(struct capture *capture, int source, int err)
{
	const struct bpflog *log = &capture->log;
	size_t count = 0;

	for (size_t i = 0; i < capture->config.probe_count; i++) {
		struct capture_probe *probe = &capture->probes[i];
		const struct probe *spec = probe->spec;
		bool guilty =
			names(spec->program, log->program) || names(spec->companion, log->program);

		if (!log->program[0])
			for (size_t k = 0; k < PROBE_MAPS_MAX; k++)
				guilty |= names(spec->maps[k], log->map);
		if (source > 0 && object_source_of(spec) == source && !log->program[0])
			guilty = true;
		if (!guilty || !probe_is_on(probe))
			continue;
		switch_off(probe, GATE_LOAD, err, log->text);
		count++;
	}
	return count;
}

static void switch_off_all(struct capture *capture, enum gate gate, int err)
{
	for (size_t i = 0; i < capture->config.probe_count; i++)
		if (probe_is_on(&capture->probes[i]))
			switch_off(&capture->probes[i], gate, err, capture->log.text);
}

static int write_filters(struct capture *capture)
{
	int tgids = bpf_map__fd(object_map(capture, "filter_tgids"));
	u8 present = 1;

	for (size_t i = 0; i < capture->config.tgid_count; i++)
		if (bpf_map_update_elem(tgids, &capture->tgids[i], &present, BPF_ANY))
			return -errno;
	return capture_set_live(capture, &capture->config.live);
}

int capture_load(struct capture *capture)
{
	int err = -EINVAL;

	verdicts_read(capture);
	for (int round = 0; round < CAPTURE_LOAD_ROUNDS_MAX && probes_on(capture); round++) {
		int source = 0;

		bpflog_begin(&capture->log);
		err = object_load_all(capture, &source);
		bpflog_end();
		if (!err)
			break;
		object_close_all(capture);
		if (!switch_off_culprits(capture, source, err))
			break;
	}
	if (!err && probes_on(capture))
		err = object_place_companions(capture);
	if (!err && probes_on(capture))
		err = write_filters(capture);
	if (err)
		switch_off_all(capture, GATE_LOAD, err);
	verdicts_write(capture);
	if (probes_on(capture))
		return 0;
	return -capture->probes[0].failure.err;
}

int capture_attach(struct capture *capture)
{
	int err = reader_start(bpf_map__fd(object_map(capture, "records")), capture->config.queue,
			       &capture->reader);

	if (err) {
		switch_off_all(capture, GATE_ATTACH, err);
		return err;
	}
	queue_outcome(capture->config.queue, &capture->outcome_before);
	capture->pushed_before = queue_pushed(capture->config.queue);
	for (size_t i = 0; i < capture->config.probe_count; i++) {
		struct capture_probe *probe = &capture->probes[i];

		if (!probe_is_on(probe))
			continue;
		bpflog_begin(&capture->log);
		err = attach_probe(probe);
		bpflog_end();
		if (err) {
			attach_undo(probe);
			switch_off(probe, GATE_ATTACH, err,
				   capture->log.length ? capture->log.text : NULL);
		}
	}
	return probes_on(capture) ? 0 : -capture->probes[0].failure.err;
}

const struct failure *capture_failure(const struct capture *capture, size_t i)
{
	return &capture->probes[i].failure;
}

int capture_run_iter(struct capture *capture, size_t i)
{
	struct capture_probe *probe = &capture->probes[i];
	_cleanup_close_ int fd = -1;
	char buf[4096];
	int total = 0;

	if (!probe->link_count)
		return -ENOENT;
	fd = bpf_iter_create(bpf_link__fd(probe->links[0]));
	if (fd < 0)
		return -errno;
	for (;;) {
		ssize_t got = read(fd, buf, sizeof(buf));

		if (got < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (got == 0)
			return total;
		if (got > 0)
			total += (int)got;
	}
}

int capture_set_live(struct capture *capture, const struct live_config *live)
{
	int fd = bpf_map__fd(object_map(capture, "live_configs"));
	u32 zero = 0;

	return bpf_map_update_elem(fd, &zero, live, BPF_ANY) ? -errno : 0;
}

void capture_kick(struct capture *capture)
{
	if (capture->reader)
		reader_kick(capture->reader);
}

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
	health->sent = health->coalesced = health->lost[LOSS_RING_FULL] = 0;
	for (int cpu = 0; cpu < cpus; cpu++) {
		health->sent += counts[cpu].sent;
		for (int id = 0; id < SIGNAL_LIMIT; id++) {
			health->coalesced += counts[cpu].of[id].coalesced;
			health->lost[LOSS_RING_FULL] += counts[cpu].of[id].ring_full;
		}
	}
	return 0;
}

/* Still in the ring buffer, by the kernel's count and the reader's. */
static u64 ring_rest(const struct health *health)
{
	u64 gone = health->taken + health->coalesced + health->lost[LOSS_RING_FULL];

	return health->sent > gone ? health->sent - gone : 0;
}

static int read_reader_counts(const struct capture *capture, struct health *health)
{
	int err = read_kernel_counts(capture, health);

	health->taken = reader_taken(capture->reader);
	health->lost[LOSS_QUEUE_FULL] = reader_queue_full(capture->reader);
	health->lost[LOSS_MALFORMED] = reader_malformed(capture->reader);
	return err;
}

static void add_worker_counts(const struct capture *capture, struct health *health)
{
	const struct queue *queue = capture->config.queue;
	u64 pushed = queue_pushed(queue) - capture->pushed_before;
	struct queue_outcome now;
	u64 finished;

	queue_outcome(queue, &now);
	health->processed = now.accepted - capture->outcome_before.accepted;
	health->lost[LOSS_UNKNOWN] = now.unknown - capture->outcome_before.unknown;
	u64 malformed = now.malformed - capture->outcome_before.malformed;

	finished = health->processed + health->lost[LOSS_UNKNOWN] + malformed;
	health->lost[LOSS_MALFORMED] += malformed;
	health->lost[LOSS_QUEUE_REST] = pushed > finished ? pushed - finished : 0;
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

static void drain(struct capture *capture)
{
	const struct timespec pause = {.tv_nsec = 2 * NS_PER_MS};
	u64 deadline = clock_now_ns() + CAPTURE_DRAIN_NS;

	while (!is_drained(capture) && clock_now_ns() < deadline) {
		reader_kick(capture->reader);
		nanosleep(&pause, NULL);
	}
}

void capture_detach(struct capture *capture)
{
	if (capture->detached || !capture->reader)
		return;
	for (size_t i = 0; i < capture->config.probe_count; i++)
		attach_undo(&capture->probes[i]);
	drain(capture);
	reader_stop(capture->reader);
	read_reader_counts(capture, &capture->final);
	capture->final.lost[LOSS_RING_REST] = ring_rest(&capture->final);
	capture->detached = true;
	reader_free(capture->reader);
	capture->reader = NULL;
}

void capture_close(struct capture *capture)
{
	if (!capture)
		return;
	capture_detach(capture);
	object_close_all(capture);
	for (size_t i = 0; i < capture->config.probe_count; i++)
		failure_clear(&capture->probes[i].failure);
	bpflog_free(&capture->log);
	free(capture->probes);
	free(capture);
}
