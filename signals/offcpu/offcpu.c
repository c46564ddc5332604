// SPDX-License-Identifier: Apache-2.0
#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"

static const struct probe probes[] = {
	{.program = "offcpu_switch", .maps = {PROBE_ACCOUNTS, PROBE_SERIES}},
};

static const struct series_kind kinds[] = {
	{"wait", UNIT_NS, "from blocking until woken"},
};

static const struct signal_view view = {
	.kinds = kinds,
	.kind_count = ARRAY_SIZE(kinds),
	.detail = {.name = "state", .kind = FIELD_STATE},
	.share = 512,
	.cost = COST_FREE,
	.price = "about 50 ns per switch to a thread that was blocked",
};

const struct signal signal_offcpu = {
	.about = "waits: their duration, by cause",
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.view = &view,
};
