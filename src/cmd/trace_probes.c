// SPDX-License-Identifier: Apache-2.0
/*
 * Places become lists, one for each program that is put at them.
 */
#include "../base/cleanup.h"
#include "trace.h"

#define FUNC_MAPS                                                                                  \
	PROBE_ACCOUNTS, PROBE_SERIES, PROBE_PAIRS, PROBE_SLOW, PROBE_STACKS, "func_tasks",         \
		"func_specs", "func_hits", "func_comms", "func_pools"

static const struct probe programs[TRACE_PROGRAM_COUNT] = {
	[TRACE_ENTER] = {.program = "func_enter", .kind = PROBE_UPROBE},
	[TRACE_LEAVE] = {.program = "func_leave", .kind = PROBE_URETPROBE},
	[TRACE_KERNEL_ENTER] = {.program = "func_kernel_enter", .kind = PROBE_KPROBE},
	[TRACE_KERNEL_LEAVE] = {.program = "func_kernel_leave", .kind = PROBE_KRETPROBE},
	[TRACE_AT_TRACEPOINT] = {.program = "func_tracepoint", .kind = PROBE_TRACEPOINT},
};

static void put(struct trace *trace, enum trace_program program, u32 i)
{
	const struct trace_place *place = &trace->places[i];

	trace->lists[program][trace->list_counts[program]++] = (struct probe_place){
		.name = place->label,
		.path = place->path,
		.offset = place->offset,
		.counter = place->counter,
		.function = place->function,
		.cookie = i,
		.pid = trace->pid,
	};
}

void trace_make_probes(struct trace *trace)
{
	for (u32 i = 0; i < trace->place_count; i++) {
		const struct trace_place *place = &trace->places[i];
		bool is_kernel = place->kind == TRACE_KERNEL;

		if (place->kind == TRACE_TRACEPOINT) {
			put(trace, TRACE_AT_TRACEPOINT, i);
			continue;
		}
		if (place->has_entry)
			put(trace, is_kernel ? TRACE_KERNEL_ENTER : TRACE_ENTER, i);
		if (place->has_return)
			put(trace, is_kernel ? TRACE_KERNEL_LEAVE : TRACE_LEAVE, i);
	}
	/* Returns first: a call that begins in between would have no end. */
	for (int program = TRACE_PROGRAM_COUNT - 1; program >= 0; program--) {
		struct probe *probe = &trace->probes[trace->probe_count];

		if (!trace->list_counts[program])
			continue;
		*probe = (struct probe){
			.program = programs[program].program,
			.kind = programs[program].kind,
			.is_rare = true,
			.maps = {FUNC_MAPS},
			.places = trace->lists[program],
			.place_count = trace->list_counts[program],
			.owner = SIG_FUNC,
		};
		trace->probe_count++;
	}
}
