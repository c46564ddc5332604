// SPDX-License-Identifier: Apache-2.0
#include "sched.h"

#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"

static const struct probe probes[] = {
	{.program = "sched_switched",
	 .maps = {PROBE_ACCOUNTS, PROBE_SERIES, PROBE_SLOW, "sched_cpus"}},
	{.program = "sched_migrated", .is_rare = true, .maps = {PROBE_ACCOUNTS, PROBE_SERIES}},
	{.program = "sched_wakes",
	 .is_rare = true,
	 .maps = {PROBE_ACCOUNTS, PROBE_SERIES, "sched_cpus"}},
};

static const struct series_kind kinds[] = {
	[SCHED_RUN] = {"run", UNIT_NS, "each stay of a thread on a CPU; as many as switches"},
	[SCHED_CPU] = {"cpu", UNIT_NS, "the same by CPU, of all that is followed"},
	[SCHED_MIGRATION] = {"migration", UNIT_NS,
			     "moves to another CPU: how long it had not run before"},
	[SCHED_WAKEUP] = {"wakeup", UNIT_COUNT,
			  "wake-ups: how many different threads one has woken within 1 ms by then"},
	[SCHED_STARVED] = {"starved", UNIT_NS, "waits for a CPU of 100 ms and more"},
};

static const struct signal_view view = {
	.kinds = kinds,
	.kind_count = ARRAY_SIZE(kinds),
	.detail = {.name = "cpu", .kind = FIELD_CPU},
	.share = 512,
	.cost = COST_FREE,
	.price = "some 0.1 us for each switch and each wake-up of what is followed",
	.judge = sched_judge,
};

const struct signal signal_sched = {
	.about = "switches, moves between CPUs, bursts of wake-ups, threads that starve",
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.view = &view,
};
