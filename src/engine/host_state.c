// SPDX-License-Identifier: Apache-2.0
#include "host_state.h"

#include <stdio.h>
#include <stdlib.h>

#include "../base/log.h"
#include "../worker/session.h"
#include "cgroup_limits.h"
#include "host_counters.h"

struct host_state {
	struct worker *worker;
	struct rows rows;
	struct host_counters begin, end;
	struct cgroup_limits limits;
};

static void send_rows(struct host_state *state)
{
	worker_session_rows(state->worker, &state->rows);
	state->rows.size = 0;
}

static void add(struct host_state *state, enum store_table table, const struct cell *cells)
{
	if (rows_add(&state->rows, table, cells))
		return;
	send_rows(state);
	rows_add(&state->rows, table, cells);
}

/* The primary key has it, so that an empty subject is text, not NULL. */
static struct cell subject_cell(const char *subject)
{
	return (struct cell){.kind = CELL_TEXT, .text = subject, .length = strlen(subject)};
}

/* A device that came or went meanwhile has only one of the two. */
static void add_counters(struct host_state *state, bool is_end)
{
	for (size_t i = 0; i < state->begin.count; i++) {
		const struct host_counter *begin = &state->begin.items[i];
		const struct host_counter *end =
			host_counters_find(&state->end, begin->name, begin->subject);
		const struct cell cells[] = {
			cell_text(begin->name, 64),
			subject_cell(begin->subject),
			cell_number(begin->value),
			is_end && end ? cell_number(end->value) : (struct cell){.kind = CELL_NULL},
		};

		add(state, TABLE_COUNTERS, cells);
	}
}

static struct cell limit_cell(u64 limit)
{
	return limit == CGROUP_NO_LIMIT ? (struct cell){.kind = CELL_NULL} : cell_number(limit);
}

static struct cell by_cell(const struct host_state *state, int by)
{
	return by == CGROUP_NOBODY ? (struct cell){.kind = CELL_NULL}
				   : cell_text(state->limits.limits[by].path, CGROUP_PATH_BYTES);
}

static void add_limit(struct host_state *state, const struct cgroup_limit *limit)
{
	int by = limit->by[CGROUP_CPU];
	const struct cgroup_limit *cpu = by == CGROUP_NOBODY ? NULL : &state->limits.limits[by];
	const struct cell none = {.kind = CELL_NULL};
	const struct cell cells[] = {
		cell_text(limit->path, sizeof(limit->path)),
		cpu ? limit_cell(limit->quota_us) : none,
		cpu ? limit_cell(limit->period_us) : none,
		limit_cell(limit->memory_high),
		limit_cell(limit->memory_max),
		cell_text(limit->io, sizeof(limit->io)),
		cpu ? cell_number(cpu->throttled - cpu->throttled_before) : none,
		cpu ? cell_number(cpu->throttled_us - cpu->throttled_before_us) : none,
		by_cell(state, by),
		by_cell(state, limit->by[CGROUP_MEMORY]),
		by_cell(state, limit->by[CGROUP_IO]),
	};

	add(state, TABLE_CGROUP_LIMITS, cells);
}

static void add_limits(struct host_state *state)
{
	for (size_t i = 0; i < state->limits.count; i++)
		add_limit(state, &state->limits.limits[i]);
}

static void on_member(void *context, const struct cgroup_limit *limit, u32 pid)
{
	const struct cell cells[] = {cell_text(limit->path, sizeof(limit->path)), cell_number(pid)};

	add(context, TABLE_CGROUP_PROCESSES, cells);
}

struct host_state *host_state_begin(struct worker *worker)
{
	struct host_state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	state->worker = worker;
	host_counters_read("/proc", &state->begin);
	if (!cgroup_limits_open(&state->limits))
		cgroup_limits_walk(&state->limits, on_member, state);
	add_counters(state, false);
	add_limits(state);
	send_rows(state);
	return state;
}

void host_state_window(struct host_state *state)
{
	if (!state)
		return;
	cgroup_limits_look(&state->limits, on_member, state);
	send_rows(state);
}

void host_state_end(struct host_state *state)
{
	if (!state)
		return;
	host_counters_read("/proc", &state->end);
	cgroup_limits_walk(&state->limits, on_member, state);
	add_counters(state, true);
	add_limits(state);
	if (state->limits.dropped)
		log_info("limits of %llu cgroups are not in the session: it has those of %d",
			 (unsigned long long)state->limits.dropped, CGROUP_LIMITS_MAX);
	if (state->limits.is_members_full)
		log_info("cgroup_processes lacks processes: more than %d lived in limited cgroups",
			 CGROUP_MEMBERS_MAX);
	send_rows(state);
}

void host_state_free(struct host_state *state)
{
	if (state)
		cgroup_limits_close(&state->limits);
	free(state);
}
