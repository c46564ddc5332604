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
	[SCHED_RUN] = {"run", UNIT_NS,
		       "one run of a thread on a CPU; count is the number of switches"},
	[SCHED_CPU] = {"cpu", UNIT_NS, "runs by CPU, of all target threads"},
	[SCHED_MIGRATION] = {"migration", UNIT_NS,
			     "migrations to another CPU: time since the thread last ran"},
	[SCHED_WAKEUP] = {"wakeup", UNIT_COUNT,
			  "wake-ups: how many different threads the waker woke within 1 ms so far"},
	[SCHED_STARVED] = {"starved", UNIT_NS, "waits for a CPU of at least 100 ms"},
};

static const struct signal_view view = {
	.kinds = kinds,
	.kind_count = ARRAY_SIZE(kinds),
	.detail = {.name = "cpu", .kind = FIELD_CPU},
	.share = 512,
	.cost = COST_FREE,
	.price = "about 0.1 us per switch and per wake-up of a target thread",
	.judge = sched_judge,
};

const struct signal signal_sched = {
	.about = "scheduling: switches, migrations, wake-up bursts, starvation",
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.view = &view,
};
