// SPDX-License-Identifier: Apache-2.0
#include "faults.h"

#include <linux/perf_event.h>

#include "../../src/base/cleanup.h"
#include "../../src/base/clock.h"
#include "../../src/base/figures.h"
#include "../../src/model/signal.h"

#define FAULT(name, event, which, ...)                                                             \
	{                                                                                          \
		.program = name, .is_rare = true, .kind = PROBE_PERF, .stacks = which,             \
		.perf_type = PERF_TYPE_SOFTWARE, .perf_config = event, .perf_period = 1,           \
		.maps = {PROBE_ACCOUNTS, PROBE_SERIES, "faults_cpus", ##__VA_ARGS__},              \
	}

static const struct probe probes[] = {
	FAULT("faults_minor", PERF_COUNT_SW_PAGE_FAULTS_MIN, PROBE_WITHOUT_STACKS),
	FAULT("faults_major", PERF_COUNT_SW_PAGE_FAULTS_MAJ, PROBE_WITHOUT_STACKS),
	FAULT("faults_minor_stacks", PERF_COUNT_SW_PAGE_FAULTS_MIN, PROBE_WITH_STACKS,
	      PROBE_STACKS),
	FAULT("faults_major_stacks", PERF_COUNT_SW_PAGE_FAULTS_MAJ, PROBE_WITH_STACKS,
	      PROBE_STACKS),
};

static const struct series_kind kinds[] = {
	[FAULTS_MINOR] = {"minor", UNIT_NS, "page faults without disk I/O"},
	[FAULTS_MAJOR] = {"major", UNIT_NS, "page faults that waited for a disk"},
	[FAULTS_MINOR_STACK] = {"minor_stack", UNIT_NS,
				"minor faults by stack: one in N, weighted"},
	[FAULTS_MAJOR_STACK] = {"major_stack", UNIT_NS,
				"major faults by stack: one in N, weighted"},
};

static void judge(const struct series_set *set, struct remarks *remarks)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct series_row *row = set->rows[i];

		if (row->key.kind == FAULTS_MAJOR && row->key.object != SERIES_OTHER &&
		    row->hist.sum > set->span_ns / 100)
			remark(remarks,
			       "%s: %s major fault%s took %s in sum: pages of its files or its "
			       "memory had to be read from a disk",
			       row->process, FIGURE_NUMBER(row->hist.count),
			       row->hist.count == 1 ? "" : "s", FIGURE_TIME(row->hist.sum));
	}
}

static const struct signal_view view = {
	.kinds = kinds,
	.kind_count = ARRAY_SIZE(kinds),
	.estimates = 1U << FAULTS_MINOR_STACK | 1U << FAULTS_MAJOR_STACK,
	.more = {.name = "stack", .kind = FIELD_STACK},
	.share = 512,
	.cost = COST_PER_EVENT,
	.price = "about 0.1 us per page fault, on top of Tier B",
	.needs_split = true,
	.judge = judge,
};

const struct signal signal_faults = {
	.about = "page faults: duration of minor and major ones, by process",
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.view = &view,
};
