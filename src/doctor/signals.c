// SPDX-License-Identifier: Apache-2.0
/*
 * The signals that can be chosen, tried for real: their own programs are loaded and attached, for a
 * moment in which they follow nobody. The ledger's are not needed for that, and have features of
 * their own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/log.h"
#include "doctor.h"

/* What it is attached to is chosen by whoever uses it: there is nothing to be tried. */
static bool has_no_target(const struct probe *probe)
{
	switch (probe->kind) {
	case PROBE_UPROBE:
	case PROBE_URETPROBE:
	case PROBE_UPROBE_MULTI:
	case PROBE_USDT:
		return !probe->path &&
		       !probe->is_deferred; /* a deferred one can be loaded at least */
	case PROBE_FENTRY:
	case PROBE_KPROBE:
	case PROBE_KRETPROBE:
	case PROBE_KPROBE_MULTI:
		return !probe->function;
	default:
		return false;
	}
}

static size_t take_probes(const struct signal *signal, struct probe *probes, size_t max)
{
	size_t count = 0;

	for (size_t i = 0; i < signal->probe_count && count < max; i++)
		if (!has_no_target(&signal->probes[i]))
			probes[count++] = signal->probes[i];
	return count;
}

/* The feature whose rules explain a refusal best: one of the same kind of hook. */
static const struct feature *feature_like(const struct probe *probe)
{
	for (size_t i = 0; probe->kind != PROBE_SECTION && i < feature_count; i++)
		if (features[i].probe.kind == probe->kind)
			return &features[i];
	return &features[0];
}

static bool is_replaced(const struct capture *capture, const struct probe *probes, size_t end,
			size_t i)
{
	for (size_t k = i + 1; k < end; k++)
		if (probes[k].fallback_of && !strcmp(probes[k].fallback_of, probes[i].program) &&
		    !capture_failure(capture, k)->err && !capture_is_resting(capture, k))
			return true;
	return false;
}

static void add_hook(struct signal_finding *finding, const char *program)
{
	size_t length = strlen(finding->hooks);

	snprintf(finding->hooks + length, sizeof(finding->hooks) - length, "%s%s",
		 length ? " " : "", program);
}

/* The first refusal that matters is the one that is told. */
static void blame(struct signal_finding *finding, const struct facts *facts,
		  const struct probe *probe, const struct failure *failure, enum status status)
{
	struct finding one = {.feature = feature_like(probe), .failure = *failure};

	if (finding->status >= status)
		return;
	finding->status = status;
	cause_find(facts, &one);
	finding->cause = one.cause;
	finding->refused = probe->program;
	if (status == STATUS_UNAVAILABLE && finding->signal->view->remedy)
		snprintf(finding->cause.remedy, sizeof(finding->cause.remedy), "%s",
			 finding->signal->view->remedy);
}

/* Of the probes from first on, before end. */
static void judge(struct signal_finding *finding, const struct facts *facts,
		  const struct capture *capture, const struct probe *probes, size_t first,
		  size_t end)
{
	for (size_t i = first; i < end; i++) {
		const struct failure *failure = capture_failure(capture, i);

		if (capture_is_resting(capture, i))
			continue;
		if (!failure->err &&
		    (i == first || strcmp(probes[i].program, probes[i - 1].program)))
			add_hook(finding, probes[i].program);
		else if (!failure->err)
			continue; /* one program, of several functions */
		else if (is_replaced(capture, probes, end, i) || probes[i].is_optional)
			blame(finding, facts, &probes[i], failure, STATUS_DEGRADED);
		else if (!probes[i].fallback_of)
			blame(finding, facts, &probes[i], failure, STATUS_UNAVAILABLE);
	}
}

/* The probes of some signals, and which of these each one's are. */
struct trial {
	struct probe probes[CAPTURE_PROBES_MAX];
	size_t count;
	size_t first[SIGNAL_LIMIT + 1]; /* by finding; of the one after the last: count */
};

static void choose(struct trial *ret_trial, struct signal_finding *findings, size_t count,
		   struct capture_config *config)
{
	ret_trial->count = 0;
	for (size_t i = 0; i < count; i++) {
		size_t taken = take_probes(findings[i].signal, ret_trial->probes + ret_trial->count,
					   CAPTURE_PROBES_MAX - ret_trial->count);

		ret_trial->first[i] = ret_trial->count;
		ret_trial->count += taken;
		findings[i].has_target = taken > 0;
		config->signals |= 1ULL << findings[i].id;
		config->series_limits[findings[i].id] = 1;
		config->split |= findings[i].signal->view->needs_split;
	}
	ret_trial->first[count] = ret_trial->count;
	config->probes = ret_trial->probes;
	config->probe_count = ret_trial->count;
}

/* 0 if they were loaded, also if not all of them: then each finding has its verdict. */
static int try_signals(const struct signals_trial *trial, struct signal_finding *findings,
		       size_t count)
{
	static struct trial chosen;
	struct filter_key nobody = {FILTER_BY_PID, {(u64)trial->worker_pid}};
	struct capture_config config = {
		.filters = &nobody, /* dwell's own are never followed */
		.filter_count = 1,
		.ring_bytes = RING_BYTES_MIN,
		.worker_pid = trial->worker_pid,
		.queue = trial->queue,
		.verdict_dir = trial->verdict_dir,
	};
	struct capture *capture;
	int err;

	choose(&chosen, findings, count, &config);
	if (!chosen.count)
		return 0;
	capture_live_defaults(&config.live);
	config.live.scope = SCOPE_LISTED;
	err = capture_open(&config, &capture);
	if (err)
		return err;
	err = capture_load(capture);
	if (!err)
		err = capture_attach(capture);
	for (size_t i = 0; i < count && (!err || count == 1); i++)
		judge(&findings[i], trial->facts, capture, chosen.probes, chosen.first[i],
		      chosen.first[i + 1]);
	capture_close(capture);
	return err;
}

/*
 * All at once, which takes a fraction of the time; where the kernel refuses so many programs that
 * it is given up, one by one.
 */
static void try_all(const struct signals_trial *trial, struct signal_finding *findings,
		    size_t count, void (*progress)(const char *))
{
	if (progress)
		progress("signals");
	if (!try_signals(trial, findings, count))
		return;
	for (size_t i = 0; i < count; i++) {
		if (progress)
			progress(findings[i].name);
		/* Nothing at all could be had, and none of its hooks may say why. */
		if (try_signals(trial, &findings[i], 1) && findings[i].status == STATUS_OK)
			findings[i].status = STATUS_UNAVAILABLE;
	}
}

size_t doctor_try_signals(const struct signals_trial *trial, void (*progress)(const char *),
			  struct signal_finding findings[SIGNAL_LIMIT])
{
	size_t count = 0;

	for (u32 id = 1; id < SIGNAL_LIMIT; id++) {
		const struct signal *signal = signal_rows[id].signal;
		struct signal_finding *finding = &findings[count];

		if (!signal || !signal->view)
			continue;
		if (signal->view->is_not_offered && !signal->probe_count)
			continue; /* another's programs fill it */
		*finding = (struct signal_finding){
			.id = id, .name = signal_rows[id].name, .signal = signal};
		count++;
		if (trial->forbidden) {
			finding->status = STATUS_UNAVAILABLE;
			finding->cause = *trial->forbidden;
			finding->refused = "";
		}
	}
	if (!trial->forbidden)
		try_all(trial, findings, count, progress);
	return count;
}
