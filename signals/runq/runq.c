// SPDX-License-Identifier: Apache-2.0
#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"

static const struct probe probes[] = {
	{.program = "runq_switch", .maps = {PROBE_ACCOUNTS, PROBE_SERIES}},
};

static const struct series_kind kinds[] = {
	{"wait", UNIT_NS, "from when it could run until it did"},
};

static const struct signal_view view = {
	.kinds = kinds,
	.kind_count = ARRAY_SIZE(kinds),
	.detail = {.name = "state", .kind = FIELD_STATE},
	.tick_mark = "1/HZ",
	.share = 512,
	.cost = COST_FREE,
	.price = "some 50 ns for each switch to a thread that waited for a CPU",
};

const struct signal signal_runq = {
	.about = "how long threads that could run waited for a CPU",
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.view = &view,
};
