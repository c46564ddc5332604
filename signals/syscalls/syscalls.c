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
	[SYSCALLS_OK] = {"ok", UNIT_NS, "from when it was entered until it returned"},
	[SYSCALLS_ERROR] = {"error", UNIT_NS, "likewise, of those that failed, by error"},
	[SYSCALLS_NOT_FOUND] = {"not_found", UNIT_NS,
				"of those that failed: files looked for in vain, by directory"},
	[SYSCALLS_CALLER] = {"caller", UNIT_NS,
			     "of all, by who called: one in so many, which stands for the others"},
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
	.price = "some 0.1 us for each system call, beyond Tier B",
	.needs_split = true,
	.judge = syscalls_judge,
};

const struct signal signal_syscalls = {
	.about = "how long system calls took, which failed, and who called",
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.view = &view,
};
