// SPDX-License-Identifier: Apache-2.0
#include "probes.h"

#include <errno.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../doctor/doctor.h"
#include "../model/signal.h"

/* A command begins with its exec, which its hook sees: who was there before is not asked for. */
static bool is_of_others(const struct probe *probe)
{
	return probe->kind == PROBE_ITER &&
	       (probe->run == RUN_BEFORE_START || probe->run == RUN_AT_START);
}

static bool is_wished(const struct probe *probe, const struct engine_options *options)
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

/* What samples by a frequency does so as often as was asked for, or is left out. */
static void add_probes(struct probe_list *list, int id, const struct engine_options *options)
{
	const struct signal *signal = signal_rows[id].signal;
	bool has_stacks = options->signals.stack_one_in && !options->stacks.is_off;
	enum probe_stacks unwanted = has_stacks ? PROBE_WITHOUT_STACKS : PROBE_WITH_STACKS;

	for (size_t i = 0; i < signal->probe_count && list->count < CAPTURE_PROBES_MAX; i++) {
		struct probe probe = signal->probes[i];

		probe.owner = (u32)id;
		if (options->command && is_of_others(&probe))
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

static void add_role(struct probe_list *list, enum signal_role role,
		     const struct engine_options *options)
{
	for (int id = signal_with_role(role, 1); id; id = signal_with_role(role, id + 1))
		add_probes(list, id, options);
}

void probes_choose(struct probe_list *list, const struct engine_options *options, enum tier tier)
{
	list->count = 0;
	add_role(list, ROLE_BASE, options);
	if (tier == TIER_B)
		add_role(list, ROLE_SPLIT, options);
	if (!options->stacks.is_off)
		add_role(list, ROLE_STACKS, options);
	/* After the ledger's: at a hook that they share, its account is up to date by then. */
	for (int id = 1; id < SIGNAL_LIMIT; id++)
		if (options->signals.chosen >> id & 1)
			add_probes(list, id, options);
	for (size_t i = 0; i < options->extra.probe_count && list->count < CAPTURE_PROBES_MAX; i++)
		list->items[list->count++] = options->extra.probes[i];
}

const char *probes_demanding(const struct engine_options *options)
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
		doctor_explain(failure, probe, &cause);
		if (!probe->is_optional && !is_replaced(list, capture, probe->program) &&
		    !has_last_resort(list, probe->program) && !is_spare(list, capture, probe)) {
			log_error("cannot measure: %s: %s → %s", probe->program, cause.text,
				  cause.remedy);
			return failure_may_pass(failure->err) ? -failure->err : -EOPNOTSUPP;
		}
		log_verbose("without %s: %s → %s", probe->program, cause.text, cause.remedy);
	}
	return 0;
}

static bool can_run(const struct probe_list *list, const struct capture *capture, size_t i)
{
	return list->items[i].kind == PROBE_ITER && !capture_failure(capture, i)->err &&
	       !capture_is_resting(capture, i);
}

void probes_tell_again(const struct probe_list *list, struct capture *capture)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].tells_again && can_run(list, capture, i))
			capture_run_iter(capture, i);
}

int probes_run(const struct probe_list *list, struct capture *capture, enum probe_run when)
{
	int first_err = 0;

	for (size_t i = 0; i < list->count; i++) {
		int err;

		if (list->items[i].run != when || !can_run(list, capture, i))
			continue;
		err = capture_run_iter(capture, i);
		if (err && !first_err)
			first_err = err;
	}
	return first_err;
}

int probes_send_rest(struct capture *capture)
{
	int err = 0;

	for (int id = 1; id < SIGNAL_LIMIT && !err; id++) {
		const struct signal *signal = signal_rows[id].signal;

		if (signal && signal->rest_map)
			err = capture_send_map(capture, signal->rest_map);
		if (err == -ENOENT)
			err = 0; /* nobody wanted it */
	}
	return err;
}
