// SPDX-License-Identifier: Apache-2.0
#include "locks.h"

#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"

static const struct probe probes[] = {
	{.program = "locks_switch",
	 .maps = {"locks_told", "locks_waiters", "lock_herds", PROBE_ACCOUNTS, PROBE_SERIES,
		  "unwind_processes"}},
	{.program = "locks_waking", .maps = {"lock_herds", PROBE_ACCOUNTS, PROBE_SERIES}},
	{.program = "locks_resume",
	 .is_optional = true,
	 .maps = {PROBE_ACCOUNTS, PROBE_SERIES, PROBE_SLOW}},
	{.program = "locks_resume_kprobe",
	 .is_optional = true,
	 .fallback_of = "locks_resume",
	 .kind = PROBE_KPROBE,
	 .function = "finish_task_switch",
	 .maps = {PROBE_ACCOUNTS, PROBE_SERIES, PROBE_SLOW}},
};

static const struct series_kind kinds[LOCKS_KIND_COUNT] = {
	[LOCKS_WAIT] = {"wait", UNIT_NS, "from when a thread blocked until it was woken"},
	[LOCKS_WAITER] = {"waiter", UNIT_COUNT, "threads that waited for it"},
	[LOCKS_HELD] = {"held", UNIT_NS,
			"how long who ended a wait had kept the lock meanwhile, at least"},
	[LOCKS_HELD_QUEUE] = {"held_runq", UNIT_NS, "of held: the holder waited for a CPU"},
	[LOCKS_HELD_BLOCK] = {"held_blocked", UNIT_NS, "of held: the holder was blocked itself"},
	[LOCKS_WAIT_STACK] = {"wait_stack", UNIT_NS,
			      "waits by stack: all long ones, and some for all others"},
	[LOCKS_HOLDER_STACK] = {"holder_stack", UNIT_NS,
				"waits by the stack of who ended them: long ones"},
	[LOCKS_BROADCAST] = {"broadcast", UNIT_COUNT, "threads that were woken together"},
	[LOCKS_FILE_WAIT] = {"file_wait", UNIT_NS, "from when a thread blocked until it was woken"},
	[LOCKS_KERNEL_WAIT] = {"kernel_wait", UNIT_NS, "from contention_begin to contention_end"},
};

static const char *const type_names[] = {
#define LOCK(NAME, name, meaning) name,
#include "../../abi/locks.def"
#undef LOCK
};

static const struct signal_view view = {
	.kinds = kinds,
	.kind_count = ARRAY_SIZE(kinds),
	.detail = {"type", FIELD_NAME, type_names, ARRAY_SIZE(type_names)},
	.object = {.name = "lock", .kind = FIELD_LABEL},
	.more = {.name = "stack", .kind = FIELD_STACK},
	.value_names = {"holder", "waker"},
	.share = 768,
	.cost = COST_CHEAP,
	.price = "under 1 us for each wait for a lock",
};

static void on_record(void *state, const struct rec_hdr *record)
{
	(void)state;
	(void)record;
}

const struct signal signal_locks = {
	.about = "locks: which ones were waited for, where, and what their holders did",
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.on_record = on_record,
	.view = &view,
};
