// SPDX-License-Identifier: Apache-2.0
#include "syscalls.h"

#include <string.h>

#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"

#define MAPS                                                                                       \
	PROBE_ACCOUNTS, PROBE_SERIES, "syscalls_tasks", "syscalls_paths", "syscalls_left",         \
		"object_ids"

static const struct probe probes[] = {
	{.program = "syscalls_exit", .stacks = PROBE_WITHOUT_STACKS, .maps = {MAPS}},
	{.program = "syscalls_exit_stacks",
	 .stacks = PROBE_WITH_STACKS,
	 .maps = {MAPS, PROBE_STACKS}},
};

static const struct series_kind kinds[] = {
	[SYSCALLS_OK] = {"ok", UNIT_NS, "from entry to return"},
	[SYSCALLS_ERROR] = {"error", UNIT_NS,
			    "from entry to return of calls that failed, by error"},
	[SYSCALLS_NOT_FOUND] = {"not_found", UNIT_NS,
				"of those that failed: files not found, by directory"},
	[SYSCALLS_CALLER] = {"caller", UNIT_NS, "all calls by caller: one in N, weighted"},
};

static const struct signal_view view = {
	.kinds = kinds,
	.kind_count = ARRAY_SIZE(kinds),
	.estimates = 1U << SYSCALLS_CALLER,
	.detail = {.name = "call", .kind = FIELD_SYSCALL},
	.object = {.name = "what", .kind = FIELD_LABEL},
	.more = {.name = "stack", .kind = FIELD_STACK},
	.share = 1024,
	.cost = COST_PER_EVENT,
	.price = "about 0.1 us per system call, on top of Tier B",
	.needs_split = true,
	.judge = syscalls_judge,
};

const struct signal signal_syscalls = {
	.about = "system calls: duration, failures and callers",
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.view = &view,
};
