// SPDX-License-Identifier: Apache-2.0
#include "../../abi/func.h"
#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"
#include "verdict.h"

/* The command puts them where a person wants them: these are its programs. */
#define FUNC_MAPS                                                                                  \
	PROBE_ACCOUNTS, PROBE_SERIES, "func_tasks", "func_specs", "func_hits", "func_comms"

static const struct probe probes[] = {
	{.program = "func_exit",
	 .is_rare = true,
	 .maps = {PROBE_ACCOUNTS, PROBE_SERIES, "func_tasks", "func_specs", "func_pools"}},
};

static const struct series_kind kinds[] = {
#define KIND(NAME, name, unit, about) {#name, unit, about},
	FUNC_KINDS(KIND)
#undef KIND
};

static const char *const classes[] = {
#define CLASS(NAME, name) name,
	FUNC_CLASSES(CLASS)
#undef CLASS
};

static const struct signal_view view = {
	.kinds = kinds,
	.kind_count = ARRAY_SIZE(kinds),
	.object = {.name = "probe", .kind = FIELD_LABEL},
	.detail = {.name = "returned",
		   .kind = FIELD_NAME,
		   .names = classes,
		   .name_count = ARRAY_SIZE(classes)},
	.more = {.name = "by", .kind = FIELD_NUMBER},
	.value_names = {"returned"},
	.share = 1024,
	.cost = COST_PER_EVENT,
	.price = "1.2 to 6.5 us for each call of a user function, by its first instruction",
	.is_not_offered = true,
	.judge = func_judge,
};

const struct signal signal_func = {
	.about = "functions, tracepoints and USDT probes, by dwell trace",
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.view = &view,
};
