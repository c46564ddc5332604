// SPDX-License-Identifier: Apache-2.0
#include "capture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../abi/records.h"
#include "../base/log.h"
#include "hotplug.h"
#include "internal.h"
#include "trial.h"

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
	if (capture) {
		capture->probes = calloc(config->probe_count, sizeof(*capture->probes));
		capture->filters = calloc(config->filter_count + 1, sizeof(*capture->filters));
	}
	if (!capture || !capture->probes || !capture->filters) {
		log_error("cannot start a capture: %s; free some memory", strerror(ENOMEM));
		if (capture) {
			free(capture->probes);
			free(capture->filters);
		}
		free(capture);
		return -ENOMEM;
	}
	capture->config = *config;
	capture->hotplug_fd = -1;
	if (config->filter_count)
		memcpy(capture->filters, config->filters,
		       config->filter_count * sizeof(*capture->filters));
	capture->config.filters = capture->filters;
	for (size_t i = 0; i < config->probe_count; i++) {
		capture->probes[i].spec = &config->probes[i];
		capture->probes[i].call_array = -1;
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

static size_t probes_failed(const struct capture *capture)
{
	size_t count = 0;

	for (size_t i = 0; i < capture->config.probe_count; i++)
		count += capture->probes[i].failure.err != 0;
	return count;
}

/* A message that names a shortage names who met it, too. */
static bool is_of_trial(const struct bpflog *log)
{
	return log->trial_shortage && !log->shortage;
}

/* A shortage explains what came after it, whether a message names it or not. */
static int err_of(const struct bpflog *log, int err)
{
	if (log->shortage)
		return log->shortage;
	if (log->trial_shortage)
		return log->trial_shortage;
	return err < 0 ? -err : err;
}

static void switch_off(struct capture_probe *probe, enum gate gate, int err,
		       const struct bpflog *log)
{
	struct failure *failure = &probe->failure;

	failure->gate = gate;
	failure->err = err_of(log, err);
	free(failure->log);
	failure->log = log->length ? strdup(log->text) : NULL;
	if (failure->log && !is_of_trial(log)) /* the consequences explain nothing */
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
		    !uprobe_multi_has_sessions())
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
		if (!err || err == -EMFILE || err == -ENFILE || is_of_trial(&capture->log))
			break; /* no probe is the culprit of a shortage */
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

static void ask_kernel(struct capture *capture)
{
	bpflog_begin(&capture->log);
	object_find_form(capture);
	bpflog_end();
	verdicts_read(capture);
}

int capture_foresee(struct capture *capture)
{
	size_t failed;
	int err;

	ask_kernel(capture);
	try_perf_events(capture);
	try_sessions(capture);
	/* A fallback may lack its hook, too: until a round finds nothing that is missing. */
	do {
		failed = probes_failed(capture);
		fallback_choose(capture);
		object_close_all(capture);
		bpflog_begin(&capture->log);
		err = object_open_main(capture);
		if (!err)
			missing_hooks_find(capture, no_hook);
		bpflog_end();
	} while (!err && probes_failed(capture) > failed);
	return err;
}

const char *capture_section(const struct capture *capture, size_t i)
{
	const struct capture_probe *probe = &capture->probes[i];

	return probe->program ? bpf_program__section_name(probe->program) : NULL;
}

int capture_load(struct capture *capture)
{
	int err;

	ask_kernel(capture);
	err = trial_run(&capture->log);
	if (!err)
		err = load_what_can_be(capture);
	if (!err && probes_on(capture)) {
		bpflog_begin(&capture->log);
		err = object_fill_maps(capture);
		if (!err)
			err = live_write_filters(capture);
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
		if (!probe_is_on(probe) || probe->spec->is_deferred)
			continue;
		bpflog_begin(&capture->log);
		err = probe->program ? attach_probe(capture, probe)
				     : fallback_error(capture, probe->spec);
		bpflog_end();
		if (err) {
			attach_undo(probe);
			switch_off(probe, GATE_ATTACH, err, &capture->log);
		}
	}
	capture->hotplug_fd = hotplug_open();
	err = set_partial(capture, false);
	if (err) {
		switch_off_all(capture, GATE_ATTACH, err);
		return err;
	}
	return probes_on(capture) ? 0 : -capture->probes[0].failure.err;
}

const struct failure *capture_failure(const struct capture *capture, size_t i)
{
	return &capture->probes[i].failure;
}

void capture_detach_probe(struct capture *capture, size_t i)
{
	attach_undo(&capture->probes[i]);
}

int capture_attach_again(struct capture *capture, size_t i)
{
	struct capture_probe *probe = &capture->probes[i];
	int err;

	if (!probe_is_on(probe) || probe->spec->is_deferred || links_are_there(probe) ||
	    !probe->program)
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

void capture_catch_up(const struct capture *capture, u64 limit_ns)
{
	if (capture->reader)
		counts_catch_up(capture, limit_ns);
}

void capture_detach(struct capture *capture)
{
	if (capture->detached || !capture->reader)
		return;
	/* The last first: who relies on another's work, or sees ends, is not to see its absence. */
	for (size_t i = capture->config.probe_count; i-- > 0;)
		attach_undo(&capture->probes[i]);
	retired_links_free(capture->retired);
	capture->retired = NULL;
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
	if (capture->hotplug_fd >= 0)
		close(capture->hotplug_fd);
	bpflog_free(&capture->log);
	free(capture->probes);
	free(capture->filters);
	free(capture);
}
