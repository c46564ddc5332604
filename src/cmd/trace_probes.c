// SPDX-License-Identifier: Apache-2.0
/*
 * Places become lists, one for each program that is put at them.
 */
#include "../base/cleanup.h"
#include "trace.h"

#define FUNC_MAPS                                                                                  \
	PROBE_ACCOUNTS, PROBE_SERIES, PROBE_PAIRS, PROBE_SLOW, PROBE_STACKS, "func_tasks",         \
		"func_specs", "func_hits", "func_comms", "func_pools", PROBE_GONE

static const struct probe programs[TRACE_PROGRAM_COUNT] = {
	[TRACE_ENTER] = {.program = "func_enter", .kind = PROBE_UPROBE},
	[TRACE_LEAVE] = {.program = "func_leave", .kind = PROBE_URETPROBE},
	[TRACE_AT_RETURN] = {.program = "func_return", .kind = PROBE_UPROBE},
	[TRACE_KERNEL_ENTER] = {.program = "func_kernel_enter", .kind = PROBE_KPROBE},
	[TRACE_KERNEL_LEAVE] = {.program = "func_kernel_leave", .kind = PROBE_KRETPROBE},
	[TRACE_FENTRY] = {.program = "func_fentry", .kind = PROBE_FENTRY},
	[TRACE_FEXIT] = {.program = "func_fexit", .kind = PROBE_FENTRY},
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

/* At each instruction that returns, or by a return probe. */
static void put_return(struct trace *trace, u32 i)
{
	const struct trace_place *place = &trace->places[i];

	if (!place->return_count)
		put(trace, TRACE_LEAVE, i);
	for (u32 n = 0; n < place->return_count; n++) {
		size_t at = trace->list_counts[TRACE_AT_RETURN];

		if (at == FUNC_PLACES_MAX)
			return; /* cannot be: trace_find() counts them */
		put(trace, TRACE_AT_RETURN, i);
		trace->lists[TRACE_AT_RETURN][at].offset = place->returns[n];
		trace->lists[TRACE_AT_RETURN][at].counter = 0;
	}
}

static void put_kernel(struct trace *trace, u32 i)
{
	const struct trace_place *place = &trace->places[i];

	if (place->has_entry)
		put(trace, TRACE_KERNEL_ENTER, i);
	if (place->has_return)
		put(trace, TRACE_KERNEL_LEAVE, i);
	if (place->has_entry && place->is_fentry)
		put(trace, TRACE_FENTRY, i);
	if (place->has_return && place->is_fentry)
		put(trace, TRACE_FEXIT, i);
}

/* What a kprobe is to do only if fentry is refused. */
static const char *original_of(const struct trace *trace, enum trace_program program)
{
	if (program == TRACE_KERNEL_ENTER && trace->list_counts[TRACE_FENTRY])
		return programs[TRACE_FENTRY].program;
	if (program == TRACE_KERNEL_LEAVE && trace->list_counts[TRACE_FEXIT])
		return programs[TRACE_FEXIT].program;
	return NULL;
}

static void add_probe(struct trace *trace, enum trace_program program)
{
	struct probe *probe = &trace->probes[trace->probe_count];
	bool is_fentry = programs[program].kind == PROBE_FENTRY;

	if (!trace->list_counts[program])
		return;
	*probe = (struct probe){
		.program = programs[program].program,
		.kind = programs[program].kind,
		.is_rare = true,
		.maps = {FUNC_MAPS},
		.fallback_of = original_of(trace, program),
		.owner = SIG_FUNC,
	};
	if (is_fentry) {
		probe->function = trace->places[FUNC_FENTRY_PLACE].function;
	} else {
		probe->places = trace->lists[program];
		probe->place_count = trace->list_counts[program];
	}
	trace->probe_count++;
}

void trace_make_probes(struct trace *trace)
{
	for (u32 i = 0; i < trace->place_count; i++) {
		const struct trace_place *place = &trace->places[i];

		if (place->kind == TRACE_TRACEPOINT) {
			put(trace, TRACE_AT_TRACEPOINT, i);
		} else if (place->kind == TRACE_KERNEL) {
			put_kernel(trace, i);
		} else {
			if (place->has_entry)
				put(trace, TRACE_ENTER, i);
			if (place->has_return)
				put_return(trace, i);
		}
	}
	/* Returns first: a call that begins in between would have no end. */
	for (int program = TRACE_PROGRAM_COUNT - 1; program >= 0; program--)
		add_probe(trace, (enum trace_program)program);
}
