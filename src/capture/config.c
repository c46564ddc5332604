// SPDX-License-Identifier: Apache-2.0
/*
 * Every parameter is checked here, before anything is loaded.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../abi/records.h"
#include "../../abi/unwind.h"
#include "../base/cleanup.h"
#include "../base/text.h"
#include "internal.h"

#define PERF_FREQ_MAX 10000

void capture_live_defaults(struct live_config *ret_live)
{
	*ret_live = (struct live_config){
#define KNOB(name, standard, ...) .name = standard,
		LIVE_KNOBS(KNOB)
#undef KNOB
	};
}

struct complaint {
	char *text;
	size_t size;
};

static int complain(struct complaint *complaint, int err, const char *what, const char *rule)
{
	snprintf(complaint->text, complaint->size, "%s: %s", what, rule);
	return err;
}

static bool is_power_of_two_within(u64 value, u64 least, u64 most)
{
	return value >= least && value <= most && !(value & (value - 1));
}

static int check_live(const struct live_config *live, struct complaint *complaint)
{
	const struct {
		const char *name;
		u64 value, least, most;
	} knobs[] = {
#define KNOB(name, standard, least, most, meaning) {#name, live->name, least, most},
		LIVE_KNOBS(KNOB)
#undef KNOB
	};

	for (size_t i = 0; i < ARRAY_SIZE(knobs); i++) {
		char rule[80];

		if (knobs[i].value >= knobs[i].least && knobs[i].value <= knobs[i].most)
			continue;
		snprintf(rule, sizeof(rule), "must be from %llu to %llu",
			 (unsigned long long)knobs[i].least, (unsigned long long)knobs[i].most);
		return complain(complaint, -ERANGE, knobs[i].name, rule);
	}
	return 0;
}

/* What each kind of probe cannot do without. */
static const char *missing_part(const struct probe *probe)
{
	if (probe->places)
		return probe->place_count ? NULL : "an address";
	switch (probe->kind) {
	case PROBE_PERF:
		return probe->perf_freq || probe->perf_period ? NULL : "a frequency or a period";
	case PROBE_FENTRY:
	case PROBE_KPROBE:
	case PROBE_KRETPROBE:
	case PROBE_KPROBE_MULTI:
		return probe->function ? NULL : "a function";
	case PROBE_UPROBE:
	case PROBE_URETPROBE:
	case PROBE_UPROBE_MULTI:
	case PROBE_UPROBE_SESSION:
		if (probe->is_deferred)
			return probe->function ? NULL : "a function";
		return probe->path && probe->offset ? NULL : "a file and an offset in it";
	case PROBE_USDT:
		return probe->path && probe->function && strchr(probe->function, ':')
			       ? NULL
			       : "a file and provider:name";
	case PROBE_TRACEPOINT:
		return probe->function && strchr(probe->function, ':') ? NULL : "category:event";
	case PROBE_SECTION:
	case PROBE_ITER:
		break;
	}
	if (probe->called_by && !probe->call_array)
		return "an array for its caller";
	return probe->companion && !probe->maps[0] ? "a map for its companion" : NULL;
}

static int check_probe(const struct probe *probe, struct complaint *complaint)
{
	if (!probe->program || !text_is_symbol(probe->program))
		return complain(complaint, -EINVAL, "program", "is not a symbol's name");
	if (source_of(probe) < 0)
		return complain(complaint, -EINVAL, probe->source, "no such BPF object");
	/* A deferred one is looked for in files: the kernel never gets its name. */
	if (probe->function && !probe->is_deferred && !text_is_symbol(probe->function))
		return complain(complaint, -EINVAL, "function",
				"letters, digits and _.$@:~<>* only, at most 511 of them");
	if (probe->perf_freq > PERF_FREQ_MAX)
		return complain(complaint, -ERANGE, "frequency", "at most 10000 a second");
	if (missing_part(probe)) {
		char rule[80];

		snprintf(rule, sizeof(rule), "needs %s", missing_part(probe));
		return complain(complaint, -EINVAL, probe->program, rule);
	}
	if (probe->pid < 0 || probe->pid > PID_LIMIT)
		return complain(complaint, -ERANGE, "pid", "must be from 1 to 4194304");
	return 0;
}

static int check_filter(const struct filter_key *filter, struct complaint *complaint)
{
	const char *name = (const char *)filter->value; /* of FILTER_BY_COMM */
	u64 value = filter->value[0];

	switch (filter->kind) {
	case FILTER_BY_PID:
	case FILTER_BY_TID:
	case FILTER_BY_TREE:
		if (value == 0 || value > PID_LIMIT || filter->value[1])
			return complain(complaint, -ERANGE, "pid", "must be from 1 to 4194304");
		return 0;
	case FILTER_BY_UID:
		if (value > U32_LIMIT || filter->value[1])
			return complain(complaint, -ERANGE, "uid", "must be below 2^32");
		return 0;
	case FILTER_BY_COMM:
		if (!name[0] || name[COMM_BYTES - 1])
			return complain(complaint, -ERANGE, "comm", "must be 1 to 15 bytes long");
		return 0;
	case FILTER_BY_EXE:
	case FILTER_BY_CGROUP:
		if (value == 0 || filter->value[1] > U32_LIMIT)
			return complain(complaint, -ERANGE, "exe or cgroup", "is impossible");
		return 0;
	}
	return complain(complaint, -EINVAL, "filter", "is of no kind that there is");
}

static int check_filters(const struct capture_config *config, struct complaint *complaint)
{
	int err = 0;

	if (config->filter_count > FILTERS_MAX)
		return complain(complaint, -E2BIG, "filters", "at most 4096 at a time");
	if ((config->live.scope == SCOPE_LISTED) != (config->filter_count > 0))
		return complain(complaint, -EINVAL, "filters",
				"a list of filters and the scope 'listed' go together");
	for (size_t i = 0; i < config->filter_count && !err; i++)
		err = check_filter(&config->filters[i], complaint);
	return err;
}

/* What it replaces is judged before it is. */
static int check_fallback(const struct capture_config *config, size_t i,
			  struct complaint *complaint)
{
	const char *program = config->probes[i].fallback_of;

	for (size_t k = 0; program && k < i; k++)
		if (!strcmp(config->probes[k].program, program))
			return 0;
	return program ? complain(complaint, -EINVAL, config->probes[i].program,
				  "is a fallback of a program that is not before it")
		       : 0;
}

int capture_live_check(const struct live_config *live, char *ret_complaint, size_t size)
{
	struct complaint complaint = {ret_complaint, size};

	return check_live(live, &complaint);
}

int capture_config_check(const struct capture_config *config, char *ret_complaint, size_t size)
{
	struct complaint complaint = {ret_complaint, size};
	int err = check_live(&config->live, &complaint);

	if (err)
		return err;
	if (!is_power_of_two_within(config->ring_bytes, RING_BYTES_MIN, RING_BYTES_MAX))
		return complain(&complaint, -ERANGE, "ring buffer",
				"must be a power of two from 64 KiB to 256 MiB");
	if (config->unwind_rows &&
	    (config->unwind_rows < UNWIND_ROWS_LEAST || config->unwind_rows > UNWIND_ROWS_MOST))
		return complain(&complaint, -ERANGE, "unwind rows",
				"from 16,384 to 67,108,864 of them");
	if (!config->queue)
		return complain(&complaint, -EINVAL, "queue", "is missing");
	if (config->worker_pid < 0 || config->worker_pid > PID_LIMIT)
		return complain(&complaint, -ERANGE, "worker's pid", "is impossible");
	if (config->spawner_pid < 0 || config->spawner_pid > PID_LIMIT)
		return complain(&complaint, -ERANGE, "spawner's pid", "is impossible");
	if (config->probe_count == 0 || config->probe_count > CAPTURE_PROBES_MAX)
		return complain(&complaint, -E2BIG, "probes", "from 1 to 128 at a time");
	err = check_filters(config, &complaint);
	for (size_t i = 0; i < config->probe_count && !err; i++)
		err = check_probe(&config->probes[i], &complaint);
	for (size_t i = 0; i < config->probe_count && !err; i++)
		err = check_fallback(config, i, &complaint);
	return err;
}
