// SPDX-License-Identifier: Apache-2.0
#include "tables.h"

#include "../../abi/records.h"
#include "../base/cleanup.h"
#include "../model/signal.h"
#include "details.h"

const struct table store_tables[TABLE_COUNT] = {
	[TABLE_META] = {.name = "meta",
			.about = "fact about the run",
			.columns = "key TEXT PRIMARY KEY, value TEXT",
			.width = 2,
			.continued = "(key) DO UPDATE SET value = CASE WHEN key = 'steal_ns' THEN "
				     "CAST(value AS INTEGER) + "
				     "excluded.value WHEN key IN ('started_ns', 'started_real_ns', "
				     "'start_cpu_ns') THEN value "
				     "ELSE excluded.value END"},
	[TABLE_WINDOWS] = {.name = "windows",
			   .about = "window, one second by default",
			   .columns = "id INTEGER PRIMARY KEY, begin_ns INTEGER, end_ns INTEGER",
			   .width = 3},
	[TABLE_LOSSES] = {.name = "losses",
			  .about = "window and cause that lost something",
			  .columns = "window INTEGER, cause TEXT, count INTEGER, "
				     "PRIMARY KEY (window, cause)",
			  .width = 3},
	[TABLE_HOOKS] =
		{.name = "hooks",
		 .about = "program",
		 .columns = "hook TEXT PRIMARY KEY, fallback_of TEXT, attached INTEGER, "
			    "failure TEXT, events INTEGER, bpf_ns INTEGER, misses INTEGER, "
			    "measured_ns INTEGER, scaled_ns INTEGER, is_rare INTEGER",
		 .width = 10,
		 .continued =
			 "(hook) DO UPDATE SET attached = excluded.attached, failure = "
			 "excluded.failure, "
			 "events = events + excluded.events, bpf_ns = bpf_ns + excluded.bpf_ns, "
			 "misses = misses + excluded.misses, measured_ns = measured_ns + "
			 "excluded.measured_ns, "
			 "scaled_ns = scaled_ns + excluded.scaled_ns"},
	[TABLE_OVERHEAD] = {.name = "overhead",
			    .about = "window",
			    .columns = "window INTEGER PRIMARY KEY, bpf_ns INTEGER, "
				       "user_cpu_ns INTEGER, rss_bytes INTEGER, "
				       "map_bytes INTEGER, ring_fill_max INTEGER",
			    .width = 6},
	[TABLE_STEPS] = {.name = "steps",
			 .about = "step of the overhead governor",
			 .columns = "ts_ns INTEGER, what TEXT, why TEXT",
			 .width = 3},
	[TABLE_COVERAGE] =
		{.name = "coverage",
		 .about = "part of the session",
		 .columns = "part TEXT PRIMARY KEY, covered_ns INTEGER, "
			    "total_ns INTEGER, thinned INTEGER",
		 .width = 4,
		 .continued = "(part) DO UPDATE SET covered_ns = covered_ns + excluded.covered_ns, "
			      "total_ns = total_ns + excluded.total_ns, thinned = max(thinned, "
			      "excluded.thinned)"},
	[TABLE_CGROUP_LIMITS] = {.name = "cgroup_limits",
				 .about = "cgroup with a limit",
				 .columns = "cgroup TEXT PRIMARY KEY, cpu_quota_us INTEGER, "
					    "cpu_period_us INTEGER, memory_high INTEGER, "
					    "memory_max INTEGER, io_limit TEXT, "
					    "nr_throttled INTEGER, throttled_us INTEGER, "
					    "cpu_cgroup TEXT, memory_cgroup TEXT, io_cgroup TEXT",
				 .width = 11,
				 .continued =
					 "(cgroup) DO UPDATE SET nr_throttled = nr_throttled + "
					 "excluded.nr_throttled, "
					 "throttled_us = throttled_us + excluded.throttled_us"},
	[TABLE_CGROUP_PROCESSES] = {.name = "cgroup_processes",
				    .about = "process that was seen in a cgroup of cgroup_limits",
				    .columns = "cgroup TEXT, pid INTEGER, "
					       "PRIMARY KEY (cgroup, pid)",
				    .width = 2},
	[TABLE_COUNTERS] = {.name = "counters",
			    .about = "counter of the host",
			    .columns = "name TEXT, subject TEXT, begin INTEGER, end INTEGER, "
				       "PRIMARY KEY (name, subject)",
			    .width = 4,
			    .continued = "(name, subject) DO UPDATE SET end = excluded.end"},
	[TABLE_SPEED] = {.name = "speed",
			 .about = "window: how long a loop took that always does the same",
			 .columns = "window INTEGER PRIMARY KEY, loop_ns INTEGER",
			 .width = 2},
};

static const struct name_row states[] = {
#define STATE(NAME, name, meaning) {STATE_##NAME, name, meaning},
#include "../../abi/states.def"
#undef STATE
};

static const struct name_row contexts[] = {
#define CONTEXT(NAME, name, meaning) {WAKER_##NAME, name, meaning},
#include "../../abi/contexts.def"
#undef CONTEXT
};

static const struct name_row object_kinds[] = {
#define OBJECT(NAME, name, meaning) {OBJECT_##NAME, name, meaning},
#include "../../abi/objects.def"
#undef OBJECT
};

static const struct name_row cpu_uses[] = {
#define CPU_USE(NAME, name, meaning) {CPU_USE_##NAME, name, meaning},
#include "../../abi/cpu_uses.def"
#undef CPU_USE
};

static const struct name_row sample_kinds[] = {
#define SAMPLE(NAME, name, meaning) {SAMPLE_##NAME, name, meaning},
#include "../../abi/samples.def"
#undef SAMPLE
};

static const struct name_row stops[] = {
#define STOP(NAME, name, is_complete, meaning) {STOP_##NAME, name, meaning},
#include "../../abi/stops.def"
#undef STOP
};

/* Generated from the system's own header: see the Makefile. */
static const struct name_row syscalls[] = {
#define SYSCALL(number, name)	     {1 + (number), name, ""},
#define SYSCALL_COMPAT(number, name) {1 + (number) + CALL_COMPAT, name, "32-bit"},
#include "syscalls.inc"
#undef SYSCALL
#undef SYSCALL_COMPAT
};

#define NAME_COLUMNS "id INTEGER PRIMARY KEY, name TEXT, meaning TEXT"
#define CALL_COLUMNS "call INTEGER PRIMARY KEY, name TEXT, meaning TEXT"
#define DICTIONARY(name_, about_, columns_)                                                        \
	{                                                                                          \
		.table = {.name = #name_, .about = (about_), .columns = (columns_), .width = 3},   \
		.rows = name_, .count = ARRAY_SIZE(name_),                                         \
	}
#define CONTRACT "number of the contract, and its name"

const struct dictionary store_dictionaries[DICTIONARY_COUNT] = {
	DICTIONARY(states, CONTRACT, NAME_COLUMNS),
	DICTIONARY(contexts, CONTRACT, NAME_COLUMNS),
	DICTIONARY(object_kinds, CONTRACT, NAME_COLUMNS),
	DICTIONARY(cpu_uses, CONTRACT, NAME_COLUMNS),
	DICTIONARY(sample_kinds, CONTRACT, NAME_COLUMNS),
	DICTIONARY(stops, CONTRACT, NAME_COLUMNS),
	DICTIONARY(syscalls, "system call of this machine, and of its 32-bit programs",
		   CALL_COLUMNS),
};

static bool each_with_sums(const struct table *table, tables_fn *fn, void *context)
{
	bool goes_on = fn(table, context);

	for (size_t i = 0; goes_on && i < table->sums_count; i++)
		goes_on = fn(&table->sums[i].table, context);
	return goes_on;
}

void tables_each(tables_fn *fn, void *context)
{
	bool goes_on = true;

	for (size_t i = 0; goes_on && i < TABLE_COUNT; i++)
		goes_on = fn(&store_tables[i], context);
	for (size_t i = 0; goes_on && i < DICTIONARY_COUNT; i++)
		goes_on = fn(&store_dictionaries[i].table, context);
	if (goes_on)
		goes_on = fn(&details_table, context);
	if (goes_on)
		goes_on = fn(&labels_table, context);
	for (int id = 0; goes_on && id < SIGNAL_LIMIT; id++) {
		const struct signal *signal = signal_rows[id].signal;

		for (size_t i = 0; signal && goes_on && i < signal->table_count; i++)
			goes_on = each_with_sums(&signal->tables[i], fn, context);
	}
}
