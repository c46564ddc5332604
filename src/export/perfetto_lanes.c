// SPDX-License-Identifier: Apache-2.0
/*
 * Lanes: tracks beside each other for what overlaps, which slices of one track may not unless one
 * contains the other. Each takes the first that is free.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../base/log.h"
#include "perfetto.h"

#define LANE_NAME_BYTES 96

bool trace_lanes_are_of(struct trace_lanes *lanes, u64 a, u64 b, u64 c)
{
	const u64 owner[3] = {a, b, c};

	if (lanes->count && !memcmp(owner, lanes->owner, sizeof(owner)))
		return true;
	memcpy(lanes->owner, owner, sizeof(owner));
	lanes->count = 0;
	return false;
}

u64 trace_lanes_take(struct trace_lanes *lanes, u64 begin_ns, u64 end_ns)
{
	char name[LANE_NAME_BYTES];
	size_t i = 0;

	while (i < lanes->count && lanes->ends_ns[i] > begin_ns)
		i++;
	if (i == TRACE_LANES_MAX) {
		lanes->left_out++;
		return 0;
	}
	if (i == lanes->count) {
		snprintf(name, sizeof(name), i ? "%s %zu" : "%s", lanes->name, i + 1);
		lanes->uuids[i] = trace_lane(lanes->trace, lanes->parent, name, lanes->about);
		lanes->count++;
	}
	lanes->ends_ns[i] = end_ns;
	return lanes->uuids[i];
}

void trace_lanes_print_left_out(const struct trace_lanes *lanes)
{
	if (lanes->left_out)
		log_info("perfetto: %" PRIu64
			 " of the %s are left out, as more than %d of one thread "
			 "or process overlap",
			 (uint64_t)lanes->left_out, lanes->name, TRACE_LANES_MAX);
}

u64 trace_process_of(struct trace *trace, u64 pid, u64 start_ns)
{
	const struct timeline *timeline = trace->timeline;
	const struct timeline_process *process = timeline_process(timeline, pid, start_ns);
	const struct timeline_process *first = (const void *)timeline->processes.items;

	return process ? trace_process(trace, (u32)(process - first)) : 0;
}
