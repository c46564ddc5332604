// SPDX-License-Identifier: Apache-2.0
/*
 * Who is to blame for waits: who ran instead, how culprits spent the time, event loops, limits of
 * cgroups, counters of the host. A session of an older version has none of these tables.
 */
#include <errno.h>
#include <string.h>

#include "../store/query.h"
#include "digest.h"

#define LIMITS_MAX   65536
#define COUNTERS_MAX 65536

/* The thread of a row that is in the slice and wanted: its index, or -1. */
static s64 thread_of(const struct digest *digest, sqlite3_stmt *row)
{
	s64 index = digest_thread_by_id(digest, sqlite3_column_int64(row, 1));

	if (index < 0 || !digest->threads[index].is_wanted ||
	    !digest_window_is_in(digest, sqlite3_column_int64(row, 0)))
		return -1;
	return index;
}

static int on_rival(sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	s64 thread = thread_of(digest, row);
	char comm[DIGEST_COMM];
	struct rival key = {0}, *rival;

	if (thread < 0)
		return 0;
	query_text(row, 4, comm, sizeof(comm));
	key.thread = (u32)thread;
	key.pid = (u32)query_count(row, 2);
	key.tid = (u32)query_count(row, 3);
	key.policy = (u16)query_u64(row, 5);
	if (!key.tid)
		key.kind = !strcmp(comm, "(idle)") ? RIVAL_IDLE : RIVAL_OTHERS;
	rival = hash_add(&digest->rivals, &key);
	if (!rival)
		return -ENOMEM;
	memcpy(rival->comm, comm, sizeof(comm));
	rival->ns = profile_add(rival->ns, query_count(row, 6));
	return 0;
}

static u8 state_of(u64 state)
{
	return state < STATE_LIMIT ? (u8)state : STATE_UNATTRIBUTED;
}

static int on_chain(sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	s64 thread = thread_of(digest, row);
	struct chain_part key, *part;

	if (thread < 0)
		return 0;
	key = (struct chain_part){
		.thread = (u32)thread,
		.state = state_of(query_u64(row, 2)),
		.call = (u16)query_u64(row, 3),
		.object = query_u64(row, 4),
		.culprit_pid = (u32)query_count(row, 5),
		.culprit_tid = (u32)query_count(row, 6),
		.part_state = state_of(query_u64(row, 8)),
		.part_call = (u16)query_u64(row, 9),
		.part_object = query_u64(row, 10),
		.part_culprit = (u32)query_count(row, 11),
	};
	part = hash_add(&digest->chains, &key);
	if (!part)
		return -ENOMEM;
	query_text(row, 7, part->culprit_comm, sizeof(part->culprit_comm));
	part->ns = profile_add(part->ns, query_count(row, 12));
	return 0;
}

static int on_loop(sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	s64 thread = thread_of(digest, row);
	u64 key = (u64)thread, max_ns;
	struct loop *loop;

	if (thread < 0)
		return 0;
	loop = hash_add(&digest->loops, &key);
	if (!loop)
		return -ENOMEM;
	loop->turns = profile_add(loop->turns, query_count(row, 2));
	loop->long_turns = profile_add(loop->long_turns, query_count(row, 3));
	loop->long_ns = profile_add(loop->long_ns, query_count(row, 4));
	max_ns = query_count(row, 5);
	loop->max_ns = max_ns > loop->max_ns ? max_ns : loop->max_ns;
	return 0;
}

static int on_limit(sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	struct cgroup_limit *limit =
		query_append(&digest->limits, &digest->limit_count, sizeof(*limit), LIMITS_MAX);

	if (!limit)
		return -ENOMEM;
	query_text(row, 0, limit->cgroup, sizeof(limit->cgroup));
	limit->cpu_quota_us = query_count(row, 1);
	limit->cpu_period_us = query_count(row, 2);
	limit->memory_high = query_count(row, 3);
	limit->memory_max = query_count(row, 4);
	query_text(row, 5, limit->io_limit, sizeof(limit->io_limit));
	limit->nr_throttled = query_count(row, 6);
	limit->throttled_us = query_count(row, 7);
	for (int i = 0; i < LIMIT_KINDS; i++) {
		query_text(row, 8 + i, limit->set_by[i], sizeof(limit->set_by[i]));
		if (!*limit->set_by[i])
			memcpy(limit->set_by[i], limit->cgroup, sizeof(limit->cgroup));
	}
	return 0;
}

static int on_cgroup_process(sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	struct cgroup_process *process =
		query_append(&digest->cgroup_processes, &digest->cgroup_process_count,
			     sizeof(*process), LIMITS_MAX);

	if (!process)
		return -ENOMEM;
	query_text(row, 0, process->cgroup, sizeof(process->cgroup));
	process->pid = (u32)query_count(row, 1);
	return 0;
}

static int on_counter(sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	struct counter *counter;

	if (query_is_null(row, 3))
		return 0; /* the writer was killed: how much it grew is not known */
	counter = query_append(&digest->counters, &digest->counter_count, sizeof(*counter),
			       COUNTERS_MAX);
	if (!counter)
		return -ENOMEM;
	query_text(row, 0, counter->name, sizeof(counter->name));
	query_text(row, 1, counter->subject, sizeof(counter->subject));
	counter->begin = query_count(row, 2);
	counter->end = query_count(row, 3);
	return 0;
}

int digest_read_culprits(sqlite3 *db, struct digest *digest)
{
	static const struct {
		const char *table, *columns, *sums_columns;
		query_row_fn *on_row;
	} tables[] = {
		{"rivals", "window, thread, pid, tid, comm, policy, ns",
		 "0, thread, pid, tid, comm, policy, ns", on_rival},
		{"chains",
		 "window, thread, state, call, object, culprit_pid, culprit_tid, culprit_comm, "
		 "part_state, part_call, part_object, part_culprit, ns",
		 "0, thread, state, call, object, culprit_pid, culprit_tid, culprit_comm, "
		 "part_state, part_call, part_object, part_culprit, ns",
		 on_chain},
		{"loops", "window, thread, turns, long_turns, long_ns, max_ns", NULL, on_loop},
		{"cgroup_limits",
		 "cgroup, cpu_quota_us, cpu_period_us, memory_high, memory_max, io_limit, "
		 "nr_throttled, throttled_us, cpu_cgroup, memory_cgroup, io_cgroup",
		 NULL, on_limit},
		{"cgroup_processes", "cgroup, pid", NULL, on_cgroup_process},
		{"counters", "name, subject, begin, \"end\"", NULL, on_counter},
	};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(tables) / sizeof(tables[0]); i++)
		err = query_sums(db, tables[i].table, tables[i].columns,
				 digest->is_slice ? NULL : tables[i].sums_columns, tables[i].on_row,
				 digest);
	return err;
}

int digest_group_services(struct digest *digest)
{
	for (size_t i = 0; i < digest->process_count; i++) {
		struct process *process = &digest->processes[i];
		struct group key = {0}, *group;

		if (!process->is_present)
			continue;
		memcpy(key.service, process->service, sizeof(key.service));
		memcpy(key.comm, process->comm, sizeof(key.comm));
		group = hash_add(&digest->groups, &key);
		if (!group)
			return -ENOMEM;
		process->group = (u32)(group - (struct group *)digest->groups.items);
		if (!group->processes ||
		    process->work_ns > digest->processes[group->busiest].work_ns)
			group->busiest = (u32)i;
		group->processes++;
		group->threads += process->present;
		group->is_kernel |= process->is_kernel;
		account_add(&group->account, &process->account);
	}
	return 0;
}
