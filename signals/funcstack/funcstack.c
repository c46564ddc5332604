// SPDX-License-Identifier: Apache-2.0
/*
 * Calls by stack, of `dwell trace --by stack`: counted by func's programs. A signal of its own, as
 * the last field of its keys is a stack.
 */
#include "../../abi/func.h"
#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"

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
	.more = {.name = "stack", .kind = FIELD_STACK},
	.value_names = {"returned"},
	.share = 1024,
	.cost = COST_PER_EVENT,
	.price = "what the call costs, and some 2 us for its stack",
	.is_not_offered = true,
};

const struct signal signal_funcstack = {
	.about = "functions by who called them, by dwell trace --by stack",
	.view = &view,
};
