// SPDX-License-Identifier: Apache-2.0
#include "rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/text.h"

#define ROWS_MAX   MODEL_THREADS_MAX
#define BUSY_SHARE 100 /* of a second */

/* A row while it is added up; opens with its key. */
struct group {
	struct rows_subject key;
	struct top_row row;
	u64 ns[STATE_LIMIT];
};

/* --- who belongs to what --- */

static const char *service_of(const struct model *model, const struct model_thread *thread)
{
	const struct model_process *process =
		model_process(model, thread->pid, thread->process_start_ns);

	if (thread->is_kernel)
		return MODEL_KERNEL;
	return process && model_service(process)[0] ? model_service(process) : thread->comm;
}

static const char *process_name(const struct model *model, const struct model_thread *thread)
{
	const struct model_process *process =
		model_process(model, thread->pid, thread->process_start_ns);

	return process && process->comm[0] ? process->comm : thread->comm;
}

bool rows_has(const struct model *model, const struct rows_subject *subject,
	      const struct model_thread *thread)
{
	if (subject->thread && subject->thread != thread->id)
		return false;
	if (subject->pid &&
	    (subject->pid != thread->pid || subject->process_start_ns != thread->process_start_ns))
		return false;
	return !subject->service[0] || !strcmp(subject->service, service_of(model, thread));
}

static bool fits(const struct model *model, const char *filter, const struct model_thread *thread)
{
	char number[16];

	if (!filter[0])
		return true;
	snprintf(number, sizeof(number), "%u", thread->pid);
	return strcasestr(thread->comm, filter) || strcasestr(service_of(model, thread), filter) ||
	       strcasestr(process_name(model, thread), filter) || !strcmp(number, filter);
}

static void key_of(const struct model *model, enum rows_by by, const struct model_thread *thread,
		   struct rows_subject *ret_key)
{
	memset(ret_key, 0, sizeof(*ret_key));
	if (by == BY_SERVICE) {
		text_copy(ret_key->service, sizeof(ret_key->service), service_of(model, thread));
		return;
	}
	ret_key->pid = thread->pid;
	ret_key->process_start_ns = thread->process_start_ns;
	if (by == BY_THREAD)
		ret_key->thread = thread->id;
}

/* --- adding up --- */

static void name_row(const struct model *model, enum rows_by by, const struct model_thread *thread,
		     struct top_row *row)
{
	const char *name = by == BY_SERVICE   ? service_of(model, thread)
			   : by == BY_PROCESS ? process_name(model, thread)
					      : thread->comm;

	text_copy(row->name, sizeof(row->name), name[0] ? name : "?");
	row->number = by == BY_SERVICE ? 0 : by == BY_PROCESS ? thread->pid : thread->tid;
}

static void add_thread(struct group *group, const struct model_thread *thread)
{
	group->row.threads += thread->threads ? thread->threads : 1;
	for (unsigned int s = 0; s < STATE_LIMIT; s++) {
		group->ns[s] += (u64)thread->ns[s];
		group->row.ns[part_of_state(s)] += (u64)thread->ns[s];
	}
}

static int collect(const struct model *model, const struct rows_options *options,
		   struct hash *groups, struct rows *rows)
{
	for (size_t i = 0; i < model->threads.count; i++) {
		const struct model_thread *thread = hash_item(&model->threads, i);
		struct rows_subject key;
		struct group *group;

		if (!rows_has(model, &options->subject, thread))
			continue;
		if ((thread->is_kernel && !options->has_kernel && !options->subject.service[0] &&
		     !options->subject.pid) ||
		    !fits(model, options->filter, thread)) {
			rows->hidden++;
			continue;
		}
		key_of(model, options->by, thread, &key);
		group = hash_add(groups, &key);
		if (!group)
			return -ENOMEM;
		if (!group->row.threads)
			name_row(model, options->by, thread, &group->row);
		add_thread(group, thread);
	}
	return 0;
}

/* Of states that keep it from its work, or of others: that it runs is in a column of its own. */
static u8 longest_wait(const u64 ns[STATE_LIMIT], bool is_busy)
{
	u8 longest = STATE_CPU;
	u64 most = 0;

	for (u8 s = 0; s < STATE_LIMIT; s++) {
		enum part part = part_of_state(s);

		if (part == PART_CPU || part_kinds[part].is_busy != is_busy || ns[s] <= most)
			continue;
		most = ns[s];
		longest = s;
	}
	return longest;
}

/* What keeps it from its work, unless that is next to nothing. */
static u8 main_state(const u64 ns[STATE_LIMIT], u64 window_ns)
{
	u8 busy = longest_wait(ns, true), other = longest_wait(ns, false);

	if (busy != STATE_CPU && ns[busy] >= window_ns / BUSY_SHARE)
		return busy;
	return other == STATE_CPU ? busy : other;
}

static void finish(struct group *group, u64 window_ns, struct rows *rows)
{
	struct top_row *row = &group->row;

	row->subject = group->key;
	row->state = main_state(group->ns, window_ns);
	for (enum part part = 0; part < PART_COUNT; part++) {
		row->busy_ns += part_kinds[part].is_busy ? row->ns[part] : 0;
		row->blocked_ns += part_is_blocked(part) ? row->ns[part] : 0;
	}
	if (row->busy_ns > rows->busiest_ns)
		rows->busiest_ns = row->busy_ns;
}

/* --- order --- */

static u64 sort_value(const struct top_row *row, enum rows_sort sort)
{
	switch (sort) {
	case SORT_CPU:
		return row->ns[PART_CPU];
	case SORT_RUNQ:
		return row->ns[PART_RUNQ];
	case SORT_BLOCKED:
		return row->blocked_ns;
	case SORT_WAIT:
		return row->ns[PART_WAIT];
	case SORT_THREADS:
		return row->threads;
	default:
		return row->busy_ns;
	}
}

/* Rows that are equal keep an order, or they would jump each second. */
static int compare(const void *a, const void *b, void *context)
{
	const struct top_row *x = a, *y = b;
	const struct rows_options *options = context;
	u64 left = sort_value(x, options->sort), right = sort_value(y, options->sort);
	int order = 0;

	if (options->sort != SORT_NAME && left != right)
		order = left > right ? -1 : 1;
	if (!order)
		order = strcmp(x->name, y->name);
	if (!order)
		order = x->number < y->number ? -1 : x->number > y->number;
	return options->is_reversed ? -order : order;
}

int rows_make(const struct model *model, const struct rows_options *options, struct rows *ret_rows)
{
	struct hash groups;
	int err;

	*ret_rows = (struct rows){0};
	hash_init(&groups, sizeof(struct group), sizeof(struct rows_subject), ROWS_MAX);
	err = collect(model, options, &groups, ret_rows);
	ret_rows->items = calloc(groups.count + 1, sizeof(*ret_rows->items));
	if (!ret_rows->items)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < groups.count; i++) {
		struct group *group = hash_item(&groups, i);

		finish(group, model->window_ns, ret_rows);
		ret_rows->items[ret_rows->count++] = group->row;
	}
	hash_free(&groups);
	if (ret_rows->count)
		qsort_r(ret_rows->items, ret_rows->count, sizeof(*ret_rows->items), compare,
			(void *)options);
	return err;
}

void rows_free(struct rows *rows)
{
	free(rows->items);
	*rows = (struct rows){0};
}

/* --- bars --- */

static bool is_drawn(enum part part, bool is_busy_only)
{
	return part_kinds[part].is_busy || !is_busy_only;
}

/*
 * Each part ends at the cell where the sum up to it ends, rounded: errors do not add up, and the
 * last one ends where the whole does.
 */
void bar_cells(const u64 ns[PART_COUNT], u64 whole_ns, bool is_busy_only, int width,
	       int ret_cells[PART_COUNT], int *ret_rest)
{
	double sum = 0, whole = (double)whole_ns;
	int at = 0;

	for (enum part part = 0; part < PART_COUNT; part++) {
		int end = at;

		ret_cells[part] = 0;
		if (!is_drawn(part, is_busy_only) || width <= 0 || whole <= 0)
			continue;
		sum += (double)ns[part];
		end = sum >= whole ? width : (int)(sum / whole * width + 0.5);
		ret_cells[part] = end > at ? end - at : 0;
		at += ret_cells[part];
	}
	*ret_rest = width > at ? width - at : 0;
}
