// SPDX-License-Identifier: Apache-2.0
#include "subjects.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "../base/cleanup.h"
#include "../report/groups.h"
#include "../store/query.h"

/* What the digest lacks of a process; opens with its key. */
struct belongs {
	u64 pid, start_ns;
	/* the key ends here */
	u32 container, pod, user; /* names */
};

struct process_row {
	u32 pid, group;
	u32 comm, exe, service, container, pod, cgroup, user; /* names */
	u64 begin_ns, end_ns;
};

struct thread_row {
	u32 tid;
	s32 process;
	u32 comm;
	u64 begin_ns, end_ns;
	u32 kernel, dormant, threads;
};

static bool is_shown(const struct thread *thread)
{
	return thread->is_wanted && thread->is_present;
}

/* Its time on a CPU and in the queue for one; 0: it is dormant. */
static u64 weight_of(const struct digest *digest, const struct thread *thread)
{
	struct account account;

	thread_account(digest, thread, &account);
	return account_cpu(&account) + account_runq(&account);
}

static int compare_weights(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x > y ? -1 : x < y;
}

/* The weight that a thread needs to be among the heaviest, and for how many of just that weight
 * there is room. */
struct threshold {
	u64 weight;
	size_t room;
};

static struct threshold find_threshold(const u64 *sorted, size_t count, size_t limit)
{
	struct threshold threshold = {0, count};
	size_t above = 0;

	if (count <= limit)
		return threshold;
	threshold.weight = sorted[limit - 1];
	while (sorted[above] > threshold.weight)
		above++;
	threshold.room = limit - above;
	return threshold;
}

static bool passes(struct threshold *threshold, u64 weight)
{
	if (weight < threshold->weight || (weight == threshold->weight && !threshold->room))
		return false;
	threshold->room -= weight == threshold->weight;
	return true;
}

static int place_threads(struct page_data *data)
{
	const struct digest *digest = data->digest;
	_cleanup_free_ u64 *weights = calloc(digest->thread_count + 1, sizeof(u64));
	_cleanup_free_ u64 *sorted = calloc(digest->thread_count + 1, sizeof(u64));
	struct threshold shown, busiest;
	size_t count = 0;

	if (!weights || !sorted)
		return -ENOMEM;
	for (size_t i = 0; i < digest->thread_count; i++) {
		weights[i] = weight_of(digest, &digest->threads[i]);
		if (is_shown(&digest->threads[i]))
			sorted[count++] = weights[i];
	}
	if (count)
		qsort(sorted, count, sizeof(u64), compare_weights);
	shown = find_threshold(sorted, count, PAGE_THREADS_MAX);
	busiest = find_threshold(sorted, count, PAGE_BUSIEST_MAX);
	for (size_t i = 0; i < digest->thread_count; i++) {
		data->thread_at[i] = PAGE_NONE;
		if (!is_shown(&digest->threads[i]) || !passes(&shown, weights[i]))
			continue;
		data->is_busiest[i] = passes(&busiest, weights[i]);
		data->thread_at[i] = (s32)data->thread_count++;
	}
	page_limit(data, "subjects.threads", data->thread_count, PAGE_THREADS_MAX,
		   count - data->thread_count,
		   "threads, those that ran least: their time is in their groups");
	return 0;
}

/* A process with a thread in the page is in it. */
static void place_process(struct page_data *data, size_t index)
{
	const struct process *process = &data->digest->processes[index];

	data->process_at[index] = PAGE_NONE;
	for (size_t i = 0; i < process->thread_count; i++)
		if (data->thread_at[process->first_thread + i] != PAGE_NONE) {
			data->process_at[index] = (s32)data->process_count++;
			return;
		}
}

static u64 shown_threads(const struct digest *digest, const struct process *process)
{
	u64 count = 0;

	for (size_t i = 0; i < process->thread_count; i++) {
		const struct thread *thread = &digest->threads[process->first_thread + i];

		count += is_shown(thread) ? thread_number(thread) : 0;
	}
	return count;
}

static bool has_shown(const struct digest *digest, const struct process *process)
{
	for (size_t i = 0; i < process->thread_count; i++)
		if (is_shown(&digest->threads[process->first_thread + i]))
			return true;
	return false;
}

/* The page leaves out groups of the kernel's own processes: others do not share one with them. */
static struct page_group *add_group(struct page_data *data, const struct process *process)
{
	char name[DIGEST_TEXT];

	if (!data->digest->options->group_by)
		return hash_add(&data->groups, &(u32[]){page_name(data, process->service),
							page_name(data, process->comm)});
	groups_name(data->digest, process, name, sizeof(name));
	return hash_add(&data->groups,
			&(u32[]){page_name(data, name),
				 page_name(data, process->is_kernel ? "kernel" : "")});
}

static int place_group(struct page_data *data, size_t index)
{
	const struct process *process = &data->digest->processes[index];
	struct page_group *group;

	data->group_at[index] = PAGE_NONE;
	if (!has_shown(data->digest, process))
		return 0;
	group = add_group(data, process);
	if (!group)
		return -ENOMEM;
	group->processes++;
	group->threads += (u32)shown_threads(data->digest, process);
	group->kernel |= process->is_kernel;
	data->group_at[index] = (s32)(group - (struct page_group *)data->groups.items);
	return 0;
}

int subjects_find(struct page_data *data)
{
	const struct digest *digest = data->digest;
	size_t left_out = 0;
	int err = 0;

	data->thread_at = calloc(digest->thread_count + 1, sizeof(s32));
	data->process_at = calloc(digest->process_count + 1, sizeof(s32));
	data->group_at = calloc(digest->process_count + 1, sizeof(s32));
	data->is_busiest = calloc(digest->thread_count + 1, sizeof(bool));
	if (!data->thread_at || !data->process_at || !data->group_at || !data->is_busiest)
		return -ENOMEM;
	err = place_threads(data);
	for (size_t i = 0; !err && i < digest->process_count; i++) {
		place_process(data, i);
		err = place_group(data, i);
		left_out += data->group_at[i] != PAGE_NONE && data->process_at[i] == PAGE_NONE;
	}
	page_limit(data, "subjects.processes", data->process_count, PAGE_THREADS_MAX, left_out,
		   "processes, of threads that are left out: their time is in their groups");
	return err;
}

struct reading {
	struct page_data *data;
	struct hash belongs;
};

static u32 name_of(struct page_data *data, sqlite3_stmt *row, int column)
{
	char text[DIGEST_TEXT];

	query_text(row, column, text, sizeof(text));
	return page_name(data, text);
}

static int on_process(sqlite3_stmt *row, void *context)
{
	struct reading *reading = context;
	struct belongs *belongs;

	if (page_pid_at(reading->data, query_count(row, 0), query_count(row, 1)) == PAGE_NONE)
		return 0;
	belongs = hash_add(&reading->belongs, &(u64[]){query_count(row, 0), query_count(row, 1)});
	if (!belongs)
		return -ENOMEM;
	belongs->container = name_of(reading->data, row, 2);
	belongs->pod = name_of(reading->data, row, 3);
	belongs->user = name_of(reading->data, row, 4);
	return 0;
}

static void fill_process(struct reading *reading, size_t index, struct process_row *row)
{
	struct page_data *data = reading->data;
	const struct process *process = &data->digest->processes[index];
	const struct belongs *belongs =
		hash_find(&reading->belongs, &(u64[]){process->pid, process->start_ns});
	u64 begin_ns = ~0ULL, end_ns = 0;

	for (size_t i = 0; i < process->thread_count; i++) {
		const struct thread *thread = &data->digest->threads[process->first_thread + i];

		if (!is_shown(thread) || thread->is_sum)
			continue;
		begin_ns = thread->begin_ns < begin_ns ? thread->begin_ns : begin_ns;
		end_ns = thread->end_ns > end_ns ? thread->end_ns : end_ns;
	}
	*row = (struct process_row){
		.pid = process->pid,
		.group = (u32)data->group_at[index],
		.comm = page_name(data, process->comm),
		.exe = page_name(data, process->exe),
		.service = page_name(data, process->service),
		.container = belongs ? belongs->container : 0,
		.pod = belongs ? belongs->pod : 0,
		.cgroup = page_name(data, process->cgroup),
		.user = belongs ? belongs->user : 0,
		.begin_ns = begin_ns == ~0ULL ? 0 : page_time(data, begin_ns),
		.end_ns = page_time(data, end_ns),
	};
}

static int write_processes(struct page_data *data, struct part *part)
{
	static const struct column columns[] = {
		COLUMN("pid", struct process_row, pid),
		COLUMN("group", struct process_row, group),
		COLUMN("comm$", struct process_row, comm),
		COLUMN("exe$", struct process_row, exe),
		COLUMN("service$", struct process_row, service),
		COLUMN("container$", struct process_row, container),
		COLUMN("pod$", struct process_row, pod),
		COLUMN("cgroup$", struct process_row, cgroup),
		COLUMN("user$", struct process_row, user),
		COLUMN("begin_ns", struct process_row, begin_ns),
		COLUMN("end_ns", struct process_row, end_ns),
	};
	_cleanup_free_ struct process_row *rows = calloc(data->process_count + 1, sizeof(*rows));
	struct reading reading = {.data = data};
	int err = rows ? 0 : -ENOMEM;

	hash_init(&reading.belongs, sizeof(struct belongs), 2 * sizeof(u64), DIGEST_THREADS_MAX);
	if (!err)
		err = query_table(data->db, "processes", "pid, start_ns, container, pod, uid", NULL,
				  on_process, &reading);
	for (size_t i = 0; !err && i < data->digest->process_count; i++)
		if (data->process_at[i] != PAGE_NONE)
			fill_process(&reading, i, &rows[data->process_at[i]]);
	if (!err)
		part_columns(part, columns, ARRAY_SIZE(columns), rows, sizeof(*rows),
			     data->process_count);
	hash_free(&reading.belongs);
	return err;
}

static int write_threads(struct page_data *data, struct part *part)
{
	static const struct column columns[] = {
		COLUMN("tid", struct thread_row, tid),
		COLUMN("process", struct thread_row, process),
		COLUMN("comm$", struct thread_row, comm),
		COLUMN("begin_ns", struct thread_row, begin_ns),
		COLUMN("end_ns", struct thread_row, end_ns),
		COLUMN("kernel", struct thread_row, kernel),
		COLUMN("dormant", struct thread_row, dormant),
		COLUMN("threads", struct thread_row, threads),
	};
	const struct digest *digest = data->digest;
	_cleanup_free_ struct thread_row *rows = calloc(data->thread_count + 1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < digest->thread_count; i++) {
		const struct thread *thread = &digest->threads[i];

		if (data->thread_at[i] == PAGE_NONE)
			continue;
		rows[data->thread_at[i]] = (struct thread_row){
			.tid = thread->tid,
			.process = data->process_at[thread->process],
			.comm = page_name(data, thread->comm),
			.begin_ns = page_time(data, thread->begin_ns),
			.end_ns = page_time(data, thread->is_sum ? 0 : thread->end_ns),
			.kernel = thread->is_kernel,
			.dormant = !weight_of(digest, thread),
			.threads = thread->threads > 0xffffff ? 0xffffff : (u32)thread->threads,
		};
	}
	part_columns(part, columns, ARRAY_SIZE(columns), rows, sizeof(*rows), data->thread_count);
	return 0;
}

int page_write_subjects(struct page_data *data, struct part *part)
{
	static const struct column groups[] = {
		COLUMN("service$", struct page_group, service),
		COLUMN("comm$", struct page_group, comm),
		COLUMN("processes", struct page_group, processes),
		COLUMN("threads", struct page_group, threads),
		COLUMN("kernel", struct page_group, kernel),
	};
	int err;

	part_text(part, "{\"groups\":");
	part_columns(part, groups, ARRAY_SIZE(groups), data->groups.items,
		     sizeof(struct page_group), data->groups.count);
	part_text(part, ",\"processes\":");
	err = write_processes(data, part);
	part_text(part, ",\"threads\":");
	if (!err)
		err = write_threads(data, part);
	part_text(part, "}");
	return err;
}
