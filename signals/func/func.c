// SPDX-License-Identifier: Apache-2.0
#include "../../abi/func.h"
#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"
#include "verdict.h"

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

/* They differ in what calls are told apart by, besides all that they have in common. */
#define FUNC_VIEW                                                                                  \
	.kinds = kinds, .kind_count = ARRAY_SIZE(kinds),                                           \
	.object = {.name = "probe", .kind = FIELD_LABEL},                                          \
	.detail = {.name = "returned",                                                             \
		   .kind = FIELD_NAME,                                                             \
		   .names = classes,                                                               \
		   .name_count = ARRAY_SIZE(classes)},                                             \
	.value_names = {"returned"}, .share = 1024, .cost = COST_PER_EVENT, .is_not_offered = true

static const struct signal_view view = {
	FUNC_VIEW,
	.more = {.name = "by", .kind = FIELD_NUMBER},
	.price = "1 to 7 us per call of a user function, by its first instruction; 6 to 12 us in "
		 "C++ and Rust",
	.judge = func_judge,
};

static const char *const maps_with_task_storage[] = {"func_tasks", NULL};

static const char *const told_maps[] = {"func_comms", NULL};

const struct signal signal_func = {
	.about = "functions, tracepoints and USDT probes, by dwell trace",
	.told_maps = told_maps,
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.maps_with_task_storage = maps_with_task_storage,
	.view = &view,
};

/* Counted by the same programs; a signal of its own, as the last field of its keys is a stack. */
static const struct signal_view stack_view = {
	FUNC_VIEW,
	.more = {.name = "stack", .kind = FIELD_STACK},
	.price = "the cost of the call, and about 2 us for its stack",
};

const struct signal signal_funcstack = {
	.about = "functions by who called them, by dwell trace --by stack",
	.view = &stack_view,
};
