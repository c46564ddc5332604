// SPDX-License-Identifier: Apache-2.0
/* Names of code that compilers make while a program runs: /tmp/perf-PID.map. */
#include "../base/clock.h"
#include "mappings_state.h"

void mappings_read_perf_map(struct mappings *mappings, struct process *process)
{
	if (!process->has_jit)
		return;
	process->perf_map_ns = clock_now_ns();
	if (process->perf_map.fd < 0 && mappings->perf_map_count < PERF_MAPS_MAX &&
	    !opener_perf_map(mappings->scanner.opener, process->tgid, &process->perf_map))
		mappings->perf_map_count++;
	mappings_give_perf_map(&mappings->scanner, process->tgid, &process->perf_map);
}

/* The last word is read while the worker still knows whose it is. */
void mappings_end_perf_map(struct mappings *mappings, struct process *process)
{
	if (process->perf_map.fd < 0)
		return;
	if (!mappings->is_broken)
		mappings_give_perf_map(&mappings->scanner, process->tgid, &process->perf_map);
	target_map_close(&process->perf_map);
	mappings->perf_map_count--;
}

void mappings_read_perf_maps(struct mappings *mappings, u64 until_ns)
{
	for (u32 i = 0; i < mappings->processes.all.count && !mappings->is_broken; i++) {
		if (clock_now_ns() >= until_ns)
			return;
		mappings_read_perf_map(mappings, mappings->processes.all.items[i].thing);
	}
}
