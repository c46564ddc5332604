// SPDX-License-Identifier: Apache-2.0
#include "probes.h"

#include <errno.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../doctor/doctor.h"
#include "../model/signal.h"

static bool ends_with(const char *program, const char *suffix)
{
	const char *end = strrchr(program, '_');

	return end && !strcmp(end, suffix);
}

/*
 * A command begins with its exec, which its hook sees: who was there before is not asked for. What
 * samples by a frequency does so as often as was asked for, or is left out.
 */
static bool is_wished(const struct probe *probe, const struct follow_options *options)
{
	const struct {
		const char *name;
		bool is_set;
	} wishes[] = {
		{"kernel", options->alloc.kernel_bytes},
		{"live", options->alloc.live},
	};

	for (size_t i = 0; probe->wish && i < ARRAY_SIZE(wishes); i++)
		if (!strcmp(probe->wish, wishes[i].name))
			return wishes[i].is_set;
	return !probe->wish;
}

static void add_probes(struct probe_list *list, const struct signal *signal,
		       const struct follow_options *options)
{
	bool has_stacks = options->signals.stack_one_in && !options->stacks.is_off;
	enum probe_stacks unwanted = has_stacks ? PROBE_WITHOUT_STACKS : PROBE_WITH_STACKS;

	for (size_t i = 0; i < signal->probe_count && list->count < CAPTURE_PROBES_MAX; i++) {
		struct probe probe = signal->probes[i];

		if (options->command &&
		    (ends_with(probe.program, PROBES_SEED) || ends_with(probe.program, PROBES_ASK)))
			continue;
		if (probe.stacks == unwanted)
			continue;
		if (probe.kind == PROBE_PERF && probe.perf_freq) {
			probe.perf_freq = options->stacks.freq;
			if (!probe.perf_freq)
				continue;
		}
		if (is_wished(&probe, options))
			list->items[list->count++] = probe;
	}
}

void probes_choose(struct probe_list *list, const struct follow_options *options, enum tier tier)
{
	list->count = 0;
	add_probes(list, &signal_ledger, options);
	add_probes(list, &signal_process, options);
	if (tier == TIER_B)
		add_probes(list, &signal_calls, options);
	if (!options->stacks.is_off)
		add_probes(list, &signal_sample, options);
	/* After the ledger's: at a hook that they share, its account is up to date by then. */
	for (int id = 1; id < SIGNAL_LIMIT; id++)
		if (options->signals.chosen >> id & 1)
			add_probes(list, signal_rows[id].signal, options);
	for (size_t i = 0; i < options->extra.probe_count && list->count < CAPTURE_PROBES_MAX; i++)
		list->items[list->count++] = options->extra.probes[i];
}

const char *probes_demanding(const struct follow_options *options)
{
	for (int id = 1; id < SIGNAL_LIMIT; id++)
		if (options->signals.chosen >> id & 1 && signal_rows[id].signal->view->needs_split)
			return signal_rows[id].name;
	return NULL;
}

/* Each signal may also have some "other" beyond its share: bpf/series.bpf.h, series_fold(). */
void probes_share(u64 signals, u32 ret_limits[SIGNAL_LIMIT])
{
	u64 wanted = 0, others = 0;

	for (int id = 1; id < SIGNAL_LIMIT; id++) {
		if (!(signals >> id & 1))
			continue;
		wanted += signal_rows[id].signal->view->share * 5 / 4;
		others += signal_rows[id].signal->view->kind_count;
	}
	for (int id = 1; id < SIGNAL_LIMIT; id++) {
		u64 share = signals >> id & 1 ? signal_rows[id].signal->view->share : 0;

		if (wanted > SERIES_MAX - others)
			share = share * (SERIES_MAX - others) / wanted;
		ret_limits[id] = (u32)share;
	}
}

/* Does another probe do its work? */
static bool is_replaced(const struct probe_list *list, const struct capture *capture,
			const char *program)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].fallback_of && !strcmp(list->items[i].fallback_of, program) &&
		    !capture_failure(capture, i)->err)
			return true;
	return false;
}

/* Has it nothing to do, as the one whose work it would do does it? */
static bool is_spare(const struct probe_list *list, const struct capture *capture,
		     const struct probe *probe)
{
	for (size_t i = 0; probe->fallback_of && i < list->count; i++)
		if (!strcmp(list->items[i].program, probe->fallback_of))
			return !capture_failure(capture, i)->err;
	return false;
}

/* Where that has failed, too, its reason is told: it was the last resort. */
static bool has_last_resort(const struct probe_list *list, const char *program)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].fallback_of && !strcmp(list->items[i].fallback_of, program) &&
		    !list->items[i].is_optional)
			return true;
	return false;
}

/* The process that a probe was for, if it has ended; 0: it has not, or the probe was for all. */
static pid_t gone_process(const struct probe *probe, const struct failure *failure)
{
	pid_t pid = probe->place_count ? probe->places[0].pid : probe->pid;

	return failure->err == ESRCH ? pid : 0;
}

/* A ledger with a hole would not close; without an optional hook there is less to tell. */
int probes_check(const struct probe_list *list, const struct capture *capture)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct failure *failure = capture_failure(capture, i);
		const struct probe *probe = &list->items[i];
		struct cause cause;

		if (!failure->err)
			continue;
		if (gone_process(probe, failure)) {
			log_error("cannot measure: process %d has ended before the measurement "
				  "began; choose one that still runs",
				  gone_process(probe, failure));
			return -ESRCH;
		}
		doctor_explain(failure, &cause);
		if (!probe->is_optional && !is_replaced(list, capture, probe->program) &&
		    !has_last_resort(list, probe->program) && !is_spare(list, capture, probe)) {
			log_error("cannot measure: %s: %s → %s", probe->program, cause.text,
				  cause.remedy);
			return -EOPNOTSUPP;
		}
		log_verbose("without %s: %s → %s", probe->program, cause.text, cause.remedy);
	}
	return 0;
}

int probes_run(const struct probe_list *list, struct capture *capture, const char *suffix)
{
	int first_err = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct probe *probe = &list->items[i];
		int err;

		if (probe->kind != PROBE_ITER || !ends_with(probe->program, suffix) ||
		    capture_failure(capture, i)->err || capture_is_resting(capture, i))
			continue;
		err = capture_run_iter(capture, i);
		if (err && !first_err)
			first_err = err;
	}
	return first_err;
}
