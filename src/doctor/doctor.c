// SPDX-License-Identifier: Apache-2.0
#include "doctor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../signals/canary/canary.h"
#include "../base/clock.h"
#include "../base/descriptors.h"
#include "../base/log.h"
#include "kconfig.h"
#include "trigger.h"

#define DELIVERY_ATTEMPTS   3
#define DELIVERY_TIMEOUT_NS (300 * NS_PER_MS) /* of each attempt */
#define VERDICT_DIR	    "/run/dwell"
#define DELIVERY_LOOK_NS    (2 * NS_PER_MS)

const char *const status_names[STATUS_COUNT] = {
	[STATUS_OK] = "ok",
	[STATUS_DEGRADED] = "degraded",
	[STATUS_UNAVAILABLE] = "unavailable",
};

const worker_job doctor_jobs[DOCTOR_JOB_COUNT] = {
	[DOCTOR_JOB_KCONFIG] = kconfig_job,
};

/* What all trials share. */
struct clinic {
	struct queue *queue;
	struct worker *worker;
	struct trigger *trigger;
	struct doctor_report *report;
	u64 token; /* a new one for each trial */
};

static void fail_delivery(struct finding *finding, int err)
{
	finding->failure.gate = GATE_DELIVERY;
	finding->failure.err = err;
}

/*
 * Waits for the canary of this trial to come out of the worker: 0, -errno if that is gone,
 * -EBADMSG if it said too little, -ETIMEDOUT if it did not come.
 */
static int await_canary(struct clinic *clinic, struct capture *capture, struct finding *finding)
{
	const struct timespec pause = {.tv_nsec = DELIVERY_LOOK_NS};
	u64 deadline = clock_now_ns() + DELIVERY_TIMEOUT_NS;
	struct canary_tally tally = {0};

	do {
		capture_kick(capture);
		nanosleep(&pause, NULL);
		if (worker_signal_state(clinic->worker, SIG_CANARY, &tally, sizeof(tally)) !=
		    sizeof(tally))
			return -EPIPE;
		if (tally.token != clinic->token)
			continue; /* of an earlier trial */
		finding->value = tally.best_value;
		if (finding->value >= finding->feature->least_value)
			return 0;
	} while (clock_now_ns() < deadline);
	return tally.token == clinic->token ? -EBADMSG : -ETIMEDOUT;
}

static void fire(struct clinic *clinic, struct capture *capture, struct finding *finding)
{
	if (finding->feature->probe.kind == PROBE_ITER) {
		int result = capture_run_iter(capture, 0);

		finding->trigger_result = result < 0 ? result : 0;
	} else {
		finding->trigger_result = trigger_fire(clinic->trigger, finding->feature->trigger);
	}
}

/* More than one attempt: a busy host may let few samples fall, and each of them may fail. */
static int prove_delivery(struct clinic *clinic, struct capture *capture, struct finding *finding)
{
	int err = 0;

	finding->gate = GATE_DELIVERY;
	for (int attempt = 0; attempt < DELIVERY_ATTEMPTS; attempt++) {
		fire(clinic, capture, finding);
		err = await_canary(clinic, capture, finding);
		if (!err || err == -EPIPE || finding->trigger_result == -ETIMEDOUT)
			break;
	}
	if (err == -EBADMSG || err == -ETIMEDOUT) {
		fail_delivery(finding, -err);
		return 0;
	}
	return err;
}

static void add_health(struct health *sum, const struct health *one)
{
	sum->sent += one->sent;
	sum->taken += one->taken;
	sum->processed += one->processed;
	sum->coalesced += one->coalesced;
	for (int i = 0; i < LOSS_COUNT; i++)
		sum->lost[i] += one->lost[i];
	sum->queue_bytes = one->queue_bytes;
	sum->queue_high_water = one->queue_high_water;
	sum->latency_p99_ns = one->latency_p99_ns;
}

/* The program's place in this executable and its process are known only now. */
static struct probe probe_for(const struct clinic *clinic, const struct feature *feature)
{
	struct probe probe = feature->probe;

	switch (probe.kind) {
	case PROBE_UPROBE:
	case PROBE_URETPROBE:
	case PROBE_UPROBE_MULTI:
		probe.offset = trigger_call_offset();
		probe.pid = trigger_pid(clinic->trigger);
		break;
	case PROBE_PERF:
	case PROBE_USDT:
		probe.pid = trigger_pid(clinic->trigger);
		break;
	default:
		break;
	}
	return probe;
}

static void copy_failure(struct finding *finding, const struct failure *failure)
{
	finding->failure = *failure;
	finding->failure.log = failure->log ? strdup(failure->log) : NULL;
	finding->gate = failure->gate;
}

/* One feature through load, attach and delivery. */
static int try_feature(struct clinic *clinic, struct finding *finding)
{
	struct probe probe = probe_for(clinic, finding->feature);
	struct filter_key trigger = {FILTER_BY_PID, {(u64)trigger_pid(clinic->trigger)}};
	struct capture_config config = {
		.probes = &probe,
		.probe_count = 1,
		.filters = &trigger,
		.filter_count = 1,
		.ring_bytes = RING_BYTES_MIN,
		.worker_pid = worker_pid(clinic->worker),
		.canary_syscall = trigger_syscall(),
		.queue = clinic->queue,
	};
	struct capture *capture;
	struct health health;
	int err;

	capture_live_defaults(&config.live);
	config.live.scope = SCOPE_LISTED;
	config.live.canary_token = ++clinic->token;
	err = capture_open(&config, &capture);
	if (err)
		return err;
	if (capture_load(capture) || capture_attach(capture)) {
		copy_failure(finding, capture_failure(capture, 0));
	} else {
		err = prove_delivery(clinic, capture, finding);
	}
	capture_detach(capture);
	if (!capture_health(capture, &health))
		add_health(&clinic->report->pipeline, &health);
	capture_close(capture);
	if (finding->trigger_result == -ETIMEDOUT) {
		/* Stuck, on a dead disk perhaps. The next feature gets a new one. */
		trigger_stop(clinic->trigger);
		clinic->trigger = NULL;
		err = err ? err : trigger_start(&clinic->trigger);
	}
	return err;
}

static const struct finding *find(const struct doctor_report *report, const char *name)
{
	for (size_t i = 0; i < report->finding_count; i++)
		if (!strcmp(report->findings[i].feature->name, name))
			return &report->findings[i];
	return NULL;
}

static bool serves(const struct doctor_report *report, const char *fallback)
{
	const struct finding *other;

	if (!fallback)
		return false;
	if (!strcmp(fallback, FALLBACK_CORE))
		return report->core_works;
	other = find(report, fallback);
	return other && !other->failure.err;
}

static void judge(struct doctor_report *report)
{
	report->core_works = true;
	for (size_t i = 0; i < report->finding_count; i++)
		if (report->findings[i].feature->core && report->findings[i].failure.err)
			report->core_works = false;
	for (size_t i = 0; i < report->finding_count; i++) {
		struct finding *finding = &report->findings[i];

		if (!finding->failure.err)
			continue;
		finding->status = serves(report, finding->feature->fallback) ? STATUS_DEGRADED
									     : STATUS_UNAVAILABLE;
		cause_find(&report->facts, finding);
	}
}

/* Some environments make every trial pointless; then none is made, and all have one cause. */
static bool is_forbidden(const struct facts *facts)
{
	return !facts->proc_readable || !facts->in_initial_userns ||
	       facts_missing_capabilities(facts);
}

static int try_all(struct clinic *clinic, void (*progress)(const char *))
{
	struct doctor_report *report = clinic->report;

	report->findings = calloc(feature_count, sizeof(*report->findings));
	if (!report->findings)
		return -ENOMEM;
	for (size_t i = 0; i < feature_count; i++) {
		struct finding *finding = &report->findings[report->finding_count++];
		int err;

		finding->feature = &features[i];
		if (report->not_tried) {
			finding->gate = GATE_ENVIRONMENT;
			finding->failure = (struct failure){.gate = GATE_ENVIRONMENT, .err = EPERM};
			continue;
		}
		if (progress)
			progress(features[i].name);
		err = try_feature(clinic, finding);
		if (err) {
			log_error("the doctor cannot continue: a helper process ended while "
				  "testing %s (%s); was it killed?",
				  features[i].name, strerror(-err));
			return err;
		}
	}
	return 0;
}

/* Their programs are many: what this boot and build refuse for good is not tried each time. */
static void try_signals(struct clinic *clinic, void (*progress)(const char *))
{
	struct doctor_report *report = clinic->report;
	const struct signals_trial trial = {
		.facts = &report->facts,
		.queue = clinic->queue,
		.worker_pid = worker_pid(clinic->worker),
		.verdict_dir = VERDICT_DIR,
		.forbidden = report->not_tried ? &report->findings[0].cause : NULL,
	};

	report->signal_count = doctor_try_signals(&trial, progress, report->signals);
}

static int start_helpers(struct clinic *clinic)
{
	int err = queue_create(QUEUE_BYTES_MIN, &clinic->queue);

	if (!err)
		err = worker_start(clinic->queue, doctor_jobs, DOCTOR_JOB_COUNT, &clinic->worker);
	if (!err)
		err = trigger_start(&clinic->trigger);
	if (err)
		log_error("cannot start the doctor's helper processes: %s; "
			  "%s",
			  strerror(-err), descriptors_advice(-err));
	return err;
}

int doctor_run(bool with_host, bool with_signals, void (*progress)(const char *feature),
	       struct doctor_report *ret)
{
	struct clinic clinic = {.report = ret, .token = clock_now_ns()};
	u64 start = clock_now_ns();
	int err;

	*ret = (struct doctor_report){0};
	err = start_helpers(&clinic);
	if (!err) {
		facts_read(&ret->facts, clinic.worker);
		ret->environment_count = environment_checks(&ret->facts, ret->environment);
		ret->not_tried = is_forbidden(&ret->facts);
		err = try_all(&clinic, progress);
	}
	if (!err) {
		judge(ret);
		if (with_signals)
			try_signals(&clinic, progress);
		if (with_host)
			ret->host_count = host_checks(ret->host);
	}
	trigger_stop(clinic.trigger);
	worker_stop(clinic.worker);
	queue_destroy(clinic.queue);
	ret->took_ns = clock_now_ns() - start;
	return err;
}

void doctor_explain(const struct failure *failure, const struct probe *probe,
		    struct cause *ret_cause)
{
	struct feature feature = features[0];
	struct finding finding = {.feature = &feature, .failure = *failure};
	struct facts facts;

	if (probe)
		feature.probe = *probe;
	facts_read(&facts, NULL);
	cause_find(&facts, &finding);
	*ret_cause = finding.cause;
}

void doctor_report_free(struct doctor_report *report)
{
	for (size_t i = 0; i < report->finding_count; i++)
		failure_clear(&report->findings[i].failure);
	free(report->findings);
	report->findings = NULL;
	report->finding_count = 0;
}
