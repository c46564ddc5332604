// SPDX-License-Identifier: Apache-2.0
#include "probes.h"

#include <linux/perf_event.h>

#define ACCOUNTS PROBE_TASKS
#define TABLES	 PROBE_UNWIND
#define TABLES_OF_NMI                                                                              \
	"unwind_rows", "unwind_pages", "unwind_modules", "unwind_mappings", "unwind_ranges",       \
		"unwind_requests_nmi", "nmi_asks", "records_nmi"
#define STACKS PROBE_SCRATCH

/* Without any of them the ledger is whole; there is only less to explain it by. */
const struct probe sample_probes[SAMPLE_PROBE_COUNT] = {
	{.program = "sample_ask",
	 .is_optional = true,
	 .is_rare = true,
	 .kind = PROBE_ITER,
	 .run = RUN_BEFORE_START,
	 .maps = {"unwind_processes", "unwind_requests"}},
	{.program = "sample_fork",
	 .is_optional = true,
	 .is_rare = true,
	 .maps = {ACCOUNTS, TABLES}},
	{.program = "sample_exec",
	 .is_optional = true,
	 .is_rare = true,
	 .maps = {ACCOUNTS, TABLES}},
	{.program = "sample_exit",
	 .is_optional = true,
	 .is_rare = true,
	 .maps = {ACCOUNTS, TABLES}},
	{.program = "sample_cycles",
	 .is_optional = true,
	 .kind = PROBE_PERF,
	 .perf_type = PERF_TYPE_HARDWARE,
	 .perf_config = PERF_COUNT_HW_CPU_CYCLES,
	 .perf_freq = 49,
	 .maps = {"ledger_tasks", TABLES_OF_NMI, STACKS, "ledger_cpus", "sample_ticks"}},
	{.program = "sample_clock",
	 .is_optional = true,
	 .fallback_of = "sample_cycles",
	 .kind = PROBE_PERF,
	 .perf_type = PERF_TYPE_SOFTWARE,
	 .perf_config = PERF_COUNT_SW_CPU_CLOCK,
	 .perf_freq = 49,
	 .maps = {ACCOUNTS, TABLES, STACKS, "ledger_cpus", "sample_ticks"}},
	{.program = "sample_waking",
	 .is_optional = true,
	 .yields_first = true,
	 .called_by = "ledger_waking",
	 .call_array = "ledger_after_waking",
	 .maps = {ACCOUNTS, TABLES, STACKS, "sample_choices"}},
	{.program = "sample_resume",
	 .is_optional = true,
	 .yields_first = true,
	 .maps = {ACCOUNTS, TABLES, STACKS, "sample_choices"}},
	{.program = "sample_resume_kprobe",
	 .is_optional = true,
	 .yields_first = true,
	 .fallback_of = "sample_resume",
	 .kind = PROBE_KPROBE,
	 .function = "finish_task_switch",
	 .maps = {ACCOUNTS, TABLES, STACKS, "sample_choices"}},
	{.program = "sample_switch",
	 .is_optional = true,
	 .yields_first = true,
	 .fallback_of = "sample_resume_kprobe",
	 .maps = {ACCOUNTS, TABLES, STACKS, "sample_choices"}},
};
