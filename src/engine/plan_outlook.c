// SPDX-License-Identifier: Apache-2.0
/* What becomes of a plan on this host: the kernel's types and events are asked, nothing is loaded.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <linux/capability.h>
#include <linux/perf_event.h>

#include "../base/capabilities.h"
#include "../base/cleanup.h"
#include "../base/log.h"
#include "../base/text.h"
#include "../capture/cost.h"
#include "../doctor/doctor.h"
#include "plan.h"

#define QUEUE_LEAST (64u << 10) /* nothing goes through it */

/* When an iterator runs, in words. */
static const char *const moments[] = {
	[RUN_ON_DEMAND] = "on demand",
	[RUN_BEFORE_START] = "before the start",
	[RUN_AT_START] = "at the start",
	[RUN_EACH_WINDOW] = "at the end of each window",
	[RUN_AFTER_SWITCH] = "when Tier B is switched off or on",
};

static const char *kind_name(enum probe_kind kind)
{
	switch (kind) {
	case PROBE_FENTRY:
		return "fentry";
	case PROBE_KPROBE:
	case PROBE_KPROBE_MULTI:
		return "kprobe";
	case PROBE_KRETPROBE:
		return "kretprobe";
	case PROBE_URETPROBE:
		return "uretprobe";
	case PROBE_UPROBE:
	case PROBE_UPROBE_MULTI:
	case PROBE_UPROBE_SESSION:
		return "uprobe";
	case PROBE_USDT:
		return "usdt";
	case PROBE_TRACEPOINT:
		return "tracepoint";
	case PROBE_PERF:
		return "perf event";
	case PROBE_ITER:
		return "iterator";
	case PROBE_SECTION:
		break;
	}
	return "hook";
}

/* As perf list has them. */
static const char *perf_name(const struct probe *probe)
{
	static const struct {
		u32 type;
		u64 config;
		const char *name;
	} events[] = {
		{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "perf event cycles"},
		{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "perf event cpu-clock"},
		{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, "perf event minor-faults"},
		{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, "perf event major-faults"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		if (events[i].type == probe->perf_type && events[i].config == probe->perf_config)
			return events[i].name;
	return "perf event";
}

/* A deferred probe lists all names that its function has: the first is the one that people know. */
static void describe_place(const struct probe *probe, const char *section, char *to, size_t size)
{
	const char *function = probe->function ? probe->function : "";

	if (probe->kind == PROBE_PERF && probe->perf_freq)
		snprintf(to, size, "%s, %u times a second on each CPU", perf_name(probe),
			 probe->perf_freq);
	else if (probe->kind == PROBE_PERF)
		snprintf(to, size, "%s, one in %llu", perf_name(probe),
			 (unsigned long long)probe->perf_period);
	else if (probe->kind == PROBE_ITER)
		snprintf(to, size, "iterator, %s", moments[probe->run]);
	else if (probe->is_deferred)
		snprintf(to, size, "%s/%.*s, once a file that has it is mapped",
			 kind_name(probe->kind), (int)strcspn(function, ":"), function);
	else if (probe->kind == PROBE_SECTION)
		snprintf(to, size, "%s%s%s", section ? section : "",
			 probe->called_by ? ", called by " : "",
			 probe->called_by ? probe->called_by : "");
	else if (probe->place_count)
		snprintf(to, size, "%s/%s%s", kind_name(probe->kind),
			 probe->places[0].function ? probe->places[0].function
						   : probe->places[0].name,
			 probe->place_count > 1 ? " and others" : "");
	else
		snprintf(to, size, "%s/%s", kind_name(probe->kind), function);
}

static bool has_failed(const struct plan *plan, const struct capture *capture, const char *program)
{
	for (size_t i = 0; i < plan->probes.count; i++)
		if (!strcmp(plan->probes.items[i].program, program))
			return capture_failure(capture, i)->err != 0;
	return false;
}

static enum plan_state state_of(const struct plan *plan, const struct capture *capture, size_t i)
{
	const struct probe *probe = &plan->probes.items[i];

	if (capture_failure(capture, i)->err)
		return PLAN_REFUSED;
	if (!probe->fallback_of)
		return PLAN_ATTACHED;
	if (capture_is_resting(capture, i))
		return PLAN_NOT_NEEDED;
	return has_failed(plan, capture, probe->fallback_of) ? PLAN_IN_PLACE : PLAN_IF_REFUSED;
}

static void look_at(const struct plan *plan, const struct capture *capture, size_t i,
		    struct plan_hook *hook)
{
	const struct probe *probe = &plan->probes.items[i];

	*hook = (struct plan_hook){
		.program = probe->program,
		.signal = (int)probe->owner,
		.state = state_of(plan, capture, i),
		.other = probe->fallback_of,
	};
	describe_place(probe, capture_section(capture, i), hook->place, sizeof(hook->place));
	if (hook->state == PLAN_REFUSED) {
		struct cause cause;

		doctor_explain(capture_failure(capture, i), probe, &cause);
		text_copy(hook->reason, sizeof(hook->reason), cause.text);
	}
}

/* Without them the kernel does not even say what it takes. */
static int check_privileges(void)
{
	const struct failure refused = {.gate = GATE_LOAD, .err = EPERM};
	struct cause cause;

	if (capabilities_has(CAPABILITY(CAP_SYS_ADMIN)) ||
	    capabilities_has(CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON)))
		return 0;
	doctor_explain(&refused, NULL, &cause);
	log_error("cannot make a plan: %s → %s", cause.text, cause.remedy);
	return -EOPNOTSUPP;
}

int plan_foresee(const struct plan *plan, struct plan_outlook *ret_outlook)
{
	struct capture_config config = plan->config;
	struct capture *capture = NULL;
	int err = check_privileges();

	*ret_outlook = (struct plan_outlook){0};
	if (err)
		return err;
	err = queue_create(QUEUE_LEAST, &config.queue);
	if (err) {
		log_error("cannot make a plan: %s; free some memory", strerror(-err));
		return err;
	}
	err = capture_open(&config, &capture);
	if (!err && (err = capture_foresee(capture)))
		log_error("cannot make a plan: opening the BPF programs failed: %s; 'dwell doctor' "
			  "says what this host lacks",
			  strerror(-err));
	if (!err)
		err = probes_check(&plan->probes, capture);
	if (!err) {
		ret_outlook->hook_count = plan->probes.count;
		for (size_t i = 0; i < plan->probes.count; i++)
			look_at(plan, capture, i, &ret_outlook->hooks[i]);
		ret_outlook->map_count =
			capture_list_maps(capture, ret_outlook->maps, PLAN_MAPS_MAX);
		ret_outlook->thread_bytes = cost_thread_bytes(capture);
	}
	capture_close(capture);
	queue_destroy(config.queue);
	return err;
}
