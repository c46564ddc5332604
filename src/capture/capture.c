// SPDX-License-Identifier: Apache-2.0
#include "capture.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../abi/records.h"
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
	capture->filters = calloc(config->filter_count + 1, sizeof(*capture->filters));
	if (!capture->probes || !capture->filters) {
		free(capture->probes);
		free(capture->filters);
		free(capture);
		return -ENOMEM;
	}
	capture->config = *config;
	if (config->filter_count)
		memcpy(capture->filters, config->filters,
		       config->filter_count * sizeof(*capture->filters));
	capture->config.filters = capture->filters;
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

static void switch_off(struct capture_probe *probe, enum gate gate, int err,
		       const struct bpflog *log)
{
	struct failure *failure = &probe->failure;

	failure->gate = gate;
	failure->err = err < 0 ? -err : err;
	free(failure->log);
	failure->log = log->length ? strdup(log->text) : NULL;
	if (failure->log)
		failure_excerpt(failure);
	log_verbose("%s: %s failed: %s%s%s", probe->spec->program, gate_names[gate],
		    strerror(failure->err), failure->log ? "\n" : "",
		    failure->log ? failure->log : "");
}

static bool names(const char *a, const char *b)
{
	return a && b[0] && !strcmp(a, b);
}

/* Whom the failed load names: a program, or a map and so all who use it. */
static bool is_named(const struct probe *spec, const struct bpflog *log)
{
	if (log->program[0])
		return names(spec->program, log->program) || names(spec->companion, log->program);
	for (size_t i = 0; i < PROBE_MAPS_MAX; i++)
		if (names(spec->maps[i], log->map))
			return true;
	return false;
}

/*
 * Switches off the culprits of a failed load; where none is named, all users of its object,
 * unless that is the main one. Returns how many; 0 means that nothing can be loaded.
 */
static size_t switch_off_culprits(struct capture *capture, int source, int err)
{
	size_t count = 0;

	for (size_t i = 0; i < capture->config.probe_count; i++) {
		struct capture_probe *probe = &capture->probes[i];
		bool named = is_named(probe->spec, &capture->log);
		bool of_object =
			source > 0 && !capture->log.program[0] && source_of(probe->spec) == source;

		if (!probe_is_on(probe) || !(named || of_object))
			continue;
		switch_off(probe, GATE_LOAD, err, &capture->log);
		probe->failure.is_named = named;
		count++;
	}
	return count;
}

static void switch_off_all(struct capture *capture, enum gate gate, int err)
{
	for (size_t i = 0; i < capture->config.probe_count; i++)
		if (probe_is_on(&capture->probes[i]))
			switch_off(&capture->probes[i], gate, err, &capture->log);
}

static int write_filters(struct capture *capture)
{
	int filters = bpf_map__fd(object_map(capture, "filters"));
	u8 present = 1;

	for (size_t i = 0; i < capture->config.filter_count; i++)
		if (bpf_map_update_elem(filters, &capture->filters[i], &present, BPF_ANY))
			return -errno;
	return capture_set_live(capture, &capture->config.live);
}

/* A perf event that others stand in for is tried first: loading a program for nothing takes time.
 */
static void try_perf_events(struct capture *capture)
{
	for (size_t i = 0; i < capture->config.probe_count; i++) {
		struct capture_probe *probe = &capture->probes[i];
		int err;

		if (probe->spec->kind != PROBE_PERF || !probe_is_on(probe) ||
		    !fallback_has(capture, probe->spec->program))
			continue;
		err = attach_try_perf(probe);
		if (err)
			switch_off(probe, GATE_ATTACH, err, &capture->log);
	}
}

static void no_session(struct capture *capture, struct capture_probe *probe)
{
	switch_off(probe, GATE_LOAD, -EOPNOTSUPP, &capture->log);
	snprintf(probe->failure.excerpt, sizeof(probe->failure.excerpt),
		 "both ends of a call in one program are from 6.13 on");
}

/* What is attached late finds out too late: the kernel's types say whether it has both ends. */
static void try_sessions(struct capture *capture)
{
	for (size_t i = 0; i < capture->config.probe_count; i++) {
		struct capture_probe *probe = &capture->probes[i];

		if (probe->spec->kind == PROBE_UPROBE_SESSION && probe_is_on(probe) &&
		    !late_has_sessions())
			no_session(capture, probe);
	}
}

static void no_hook(struct capture *capture, struct capture_probe *probe, const char *tracepoint)
{
	switch_off(probe, GATE_LOAD, -ESRCH, &capture->log);
	snprintf(probe->failure.excerpt, sizeof(probe->failure.excerpt), "no tracepoint %s",
		 tracepoint);
}

/* Loads, and after each refusal what is left, until nothing is refused. */
static int load_what_can_be(struct capture *capture)
{
	int err = -EINVAL;

	try_perf_events(capture);
	try_sessions(capture);
	for (int round = 0; round <= CAPTURE_LOAD_ROUNDS_MAX; round++) {
		int source = 0;
		size_t count;

		fallback_choose(capture);
		if (!probes_on(capture))
			break;
		bpflog_begin(&capture->log);
		err = object_load_all(capture, &source);
		bpflog_end();
		if (!err)
			break;
		count = switch_off_culprits(capture, source, err);
		if (missing_hooks_are_told(&capture->log)) {
			bpflog_begin(&capture->log);
			missing_hooks_find(capture, no_hook);
			bpflog_end();
		}
		object_close_all(capture);
		if (!count)
			break;
	}
	return err;
}

int capture_load(struct capture *capture)
{
	int err;

	bpflog_begin(&capture->log);
	object_find_form(capture);
	bpflog_end();
	verdicts_read(capture);
	err = load_what_can_be(capture);
	if (!err && probes_on(capture)) {
		bpflog_begin(&capture->log);
		err = object_fill_maps(capture);
		if (!err)
			err = write_filters(capture);
		if (!err)
			err = series_open(capture);
		bpflog_end();
	}
	if (err)
		switch_off_all(capture, GATE_LOAD, err);
	verdicts_write(capture);
	return probes_on(capture) ? 0 : -capture->probes[0].failure.err;
}

static int start_reader(struct capture *capture)
{
	struct queue *queue = capture->config.queue;
	struct queue_outcome *before = &capture->outcome_before;

	queue_outcome(queue, before);
	capture->pushed_before = queue_pushed(queue);
	if (before->accepted + before->malformed + before->unknown != capture->pushed_before)
		return -EBUSY; /* the worker still has records of an earlier capture */
	return reader_start(capture_map_fd(capture, "records"),
			    capture_map_fd(capture, "records_nmi"), queue, &capture->reader);
}

/* Until all are there, no program may take what it lacks for something that was missed. */
static int set_partial(struct capture *capture, bool is_partial)
{
	struct live_config live = capture->config.live;

	live.is_partial = is_partial;
	return capture_set_live(capture, &live);
}

int capture_attach(struct capture *capture)
{
	int err;

	bpflog_begin(&capture->log);
	err = start_reader(capture);
	bpflog_end();
	if (!err)
		err = set_partial(capture, true);
	if (err) {
		switch_off_all(capture, GATE_ATTACH, err);
		return err;
	}
	for (size_t i = 0; i < capture->config.probe_count; i++) {
		struct capture_probe *probe = &capture->probes[i];

		probe->is_resting = !fallback_is_needed(capture, probe->spec);
		if (!probe_is_on(probe) || probe->spec->is_late)
			continue;
		bpflog_begin(&capture->log);
		err = probe->program ? attach_probe(capture, probe) : -ENOENT;
		bpflog_end();
		if (err) {
			attach_undo(probe);
			switch_off(probe, GATE_ATTACH, err, &capture->log);
		}
	}
	err = set_partial(capture, false);
	if (err)
		return err;
	return probes_on(capture) ? 0 : -capture->probes[0].failure.err;
}

const struct failure *capture_failure(const struct capture *capture, size_t i)
{
	return &capture->probes[i].failure;
}

u64 capture_filter_kinds(const struct capture *capture)
{
	u64 kinds = 0;

	for (size_t i = 0; i < capture->config.filter_count; i++)
		kinds |= FILTER_KIND_BIT(capture->filters[i].kind);
	return kinds;
}

/* What the kernel side must know of the filters beside the map that holds them. */
static void sum_up_filters(const struct capture *capture, struct live_config *live)
{
	live->filter_kinds = capture_filter_kinds(capture);
	live->filter_cgroup_v1 = 0;
	for (size_t i = 0; i < capture->config.filter_count; i++) {
		const struct filter_key *filter = &capture->filters[i];

		if (filter->kind == FILTER_BY_CGROUP && filter->value[1] != CGROUP_V2_HIERARCHY)
			live->filter_cgroup_v1 = 1;
	}
}

int capture_set_live(struct capture *capture, const struct live_config *live)
{
	struct live_config whole = *live;
	int fd = bpf_map__fd(object_map(capture, "live_configs"));
	char complaint[160];
	u32 zero = 0;
	int err = capture_live_check(live, complaint, sizeof(complaint));

	if (err) {
		log_error("cannot change a running capture: %s", complaint);
		return err;
	}
	sum_up_filters(capture, &whole);
	return bpf_map_update_elem(fd, &zero, &whole, BPF_ANY) ? -errno : 0;
}

int capture_split_off(struct capture *capture, u32 tgid)
{
	const struct bpf_map *map = object_map(capture, "split_off");
	const u8 off = 1;

	if (!map || bpf_map__fd(map) < 0)
		return -ENOENT;
	return bpf_map_update_elem(bpf_map__fd(map), &tgid, &off, BPF_ANY) ? -errno : 0;
}

int capture_split_on(struct capture *capture, u32 tgid)
{
	const struct bpf_map *map = object_map(capture, "split_off");

	if (!map || bpf_map__fd(map) < 0)
		return -ENOENT;
	return bpf_map_delete_elem(bpf_map__fd(map), &tgid) ? -errno : 0;
}

void capture_detach_probe(struct capture *capture, size_t i)
{
	attach_undo(&capture->probes[i]);
}

int capture_attach_again(struct capture *capture, size_t i)
{
	struct capture_probe *probe = &capture->probes[i];
	int err;

	if (!probe_is_on(probe) || probe->spec->is_late || probe->link_count || !probe->program)
		return 0;
	bpflog_begin(&capture->log);
	err = attach_probe(capture, probe);
	bpflog_end();
	if (err)
		attach_undo(probe);
	return err;
}

void capture_detach_program(struct capture *capture, const char *program)
{
	for (size_t i = 0; i < capture->config.probe_count; i++)
		if (!strcmp(capture->probes[i].spec->program, program))
			attach_undo(&capture->probes[i]);
}

void capture_kick(struct capture *capture)
{
	if (capture->reader)
		reader_kick(capture->reader);
}

void capture_detach(struct capture *capture)
{
	if (capture->detached || !capture->reader)
		return;
	/* The last first: who relies on another's work, or sees ends, is not to see its absence. */
	for (size_t i = capture->config.probe_count; i-- > 0;)
		attach_undo(&capture->probes[i]);
	capture_send_series(capture);
	counts_drain(capture);
	reader_stop(capture->reader);
	counts_fix(capture);
	capture->detached = true;
	reader_free(capture->reader);
	capture->reader = NULL;
}

void capture_close(struct capture *capture)
{
	if (!capture)
		return;
	capture_detach(capture);
	ring_buffer__free(capture->requests);
	series_close(capture);
	object_close_all(capture);
	for (size_t i = 0; i < capture->config.probe_count; i++)
		failure_clear(&capture->probes[i].failure);
	bpflog_free(&capture->log);
	free(capture->probes);
	free(capture->filters);
	free(capture);
}
