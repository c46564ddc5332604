// SPDX-License-Identifier: Apache-2.0
/*
 * Which lines are worth their memory, before any is read by window: the largest ones of each table,
 * of all sessions together. Reads what the writer added up, where it has; so it is quick. The rows
 * go the same way as later, into one bin.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/log.h"
#include "reading.h"

#define SURVEY_LINES_MAX 300000
#define KEPT_MAX	 20000

/* Stacks are bounded by themselves; series come last, and are few. */
static bool is_surveyed(u32 table)
{
	return table != DIFF_LEDGER && table != DIFF_STACK && table < DIFF_COUNT;
}

int diff_survey(struct diff *diff, sqlite3 *db, int side, const char *name)
{
	static u16 one_bin[1];
	u64 start = 0;
	struct diff_run run = {.side = side, .name = name, .bin_of = one_bin};
	struct reading reading = {.diff = diff,
				  .run = &run,
				  .db = db,
				  .is_survey = true,
				  .starts = &start,
				  .start_count = 1};
	int (*const parts[])(struct reading * reading) = {
		reading_tasks,
		reading_ledger,
		reading_calls,
		reading_samples,
	};
	int err = reading_init_tasks(&reading);

	diff->lines.max = SURVEY_LINES_MAX;
	for (size_t i = 0; !err && i < sizeof(parts) / sizeof(parts[0]); i++)
		err = parts[i](&reading);
	reading_free_tasks(&reading);
	if (err == -ENOMEM)
		log_error("not enough memory to compare %s", name);
	return err;
}

static double size_of(const struct diff_line *line)
{
	if (line->key.table == DIFF_THREAD)
		return line->wait[0] + line->wait[1] + line->cpu[0] + line->cpu[1];
	return line->values ? line->values[0] : 0;
}

static int by_size(const void *a, const void *b)
{
	const struct diff_line *x = *(struct diff_line *const *)a;
	const struct diff_line *y = *(struct diff_line *const *)b;

	if (x->key.table != y->key.table)
		return x->key.table < y->key.table ? -1 : 1;
	if (size_of(x) != size_of(y))
		return size_of(x) > size_of(y) ? -1 : 1;
	return memcmp(&x->key, &y->key, sizeof(x->key));
}

static bool is_kept(const void *item, const void *context)
{
	(void)context;
	return ((const struct diff_line *)item)->is_tested;
}

/* Marks those to keep, and frees what they added up to. */
static int mark_largest(struct diff *diff)
{
	struct diff_line **order = calloc(diff->lines.count + 1, sizeof(struct diff_line *));
	size_t seen[DIFF_TABLES] = {0};
	size_t most = diff->lines.count > KEPT_MAX ? DIFF_LARGEST : KEPT_MAX;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < diff->lines.count; i++)
		order[i] = hash_item(&diff->lines, i);
	qsort(order, diff->lines.count, sizeof(struct diff_line *), by_size);
	for (size_t i = 0; i < diff->lines.count; i++) {
		u32 table = order[i]->key.table;

		order[i]->is_tested = seen[table]++ < most && is_surveyed(table);
	}
	for (u32 table = 0; table < DIFF_TABLES; table++) {
		bool is_over = is_surveyed(table) && seen[table] > most;

		diff->is_closed[table] =
			is_over || (is_surveyed(table) && hash_is_full(&diff->lines));
		diff->left_out[table] = is_over ? seen[table] - most : 0;
	}
	free(order);
	return 0;
}

int diff_choose(struct diff *diff)
{
	int err = mark_largest(diff);

	for (size_t i = 0; i < diff->lines.count; i++) {
		struct diff_line *line = hash_item(&diff->lines, i);

		free(line->values);
		*line = (struct diff_line){.key = line->key, .is_tested = line->is_tested};
	}
	hash_retain(&diff->lines, is_kept, NULL);
	for (size_t i = 0; i < diff->lines.count; i++)
		((struct diff_line *)hash_item(&diff->lines, i))->is_tested = false;
	diff->lines.max = DIFF_LINES_MAX;
	memset(diff->bins, 0, sizeof(diff->bins));
	memset(diff->no_room, 0, sizeof(diff->no_room));
	if (!err && diff->strings.was_short)
		err = -ENOMEM;
	if (err)
		log_error("not enough memory to compare: take parts of the sessions, as "
			  "FILE@10s-20s");
	return err;
}
