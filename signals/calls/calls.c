// SPDX-License-Identifier: Apache-2.0
#include <linux/perf_event.h>

#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"

static void on_record(void *state, const struct rec_hdr *record)
{
	(void)state;
	(void)record;
}

#define ACCOUNTS "ledger_tasks", "ledger_pids", "ledger_cpus", "split_off"

static const struct probe probes[] = {
	{.program = "calls_enter", .maps = {ACCOUNTS}},
	{.program = "calls_exit", .maps = {ACCOUNTS, "calls_tasks"}},
	{.program = "calls_fault_user", .is_optional = true, .maps = {ACCOUNTS}},
	{.program = "calls_fault_kernel", .is_optional = true, .maps = {ACCOUNTS}},
	{.program = "calls_fault_end",
	 .kind = PROBE_PERF,
	 .is_optional = true,
	 .perf_type = PERF_TYPE_SOFTWARE,
	 .perf_config = PERF_COUNT_SW_PAGE_FAULTS_MIN,
	 .perf_period = 1,
	 .maps = {ACCOUNTS}},
	{.program = "calls_fault_end",
	 .kind = PROBE_PERF,
	 .is_optional = true,
	 .perf_type = PERF_TYPE_SOFTWARE,
	 .perf_config = PERF_COUNT_SW_PAGE_FAULTS_MAJ,
	 .perf_period = 1,
	 .maps = {ACCOUNTS}},
	{.program = "calls_signal", .is_optional = true, .maps = {ACCOUNTS}},
	{.program = "calls_last", .maps = {ACCOUNTS, "calls_tasks"}},
	{.program = "calls_rows",
	 .kind = PROBE_ITER,
	 .maps = {ACCOUNTS, "calls_tasks", "calls_scratch"}},
	{.program = "calls_stop", .kind = PROBE_ITER, .maps = {ACCOUNTS}},
};

const struct signal signal_calls = {
	.about = "system calls of each thread, and what they cost",
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.on_record = on_record,
};
