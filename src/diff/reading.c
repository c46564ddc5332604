// SPDX-License-Identifier: Apache-2.0
#include "reading.h"

#include <errno.h>
#include <stdlib.h>

#include "../store/process_filter.h"
#include "../store/query.h"
#include "../store/sums.h"

int reading_init_tasks(struct reading *reading)
{
	reading->part = reading->diff->options.processes;
	hash_init(&reading->processes, sizeof(struct reading_process), 2 * sizeof(u64),
		  READING_TASKS_MAX);
	hash_init(&reading->threads, sizeof(struct reading_thread), sizeof(u64), READING_TASKS_MAX);
	return process_filter_read(reading->db, &reading->part);
}

void reading_free_tasks(struct reading *reading)
{
	hash_free(&reading->processes);
	hash_free(&reading->threads);
	process_filter_free(&reading->part);
}

int reading_rows(struct reading *reading, const char *table, const char *sums, const char *columns,
		 query_row_fn *on_row, void *context)
{
	bool is_summed = reading->is_survey && sums_are_complete_as(reading->db, table, sums);
	char name[64], all[256];

	snprintf(name, sizeof(name), "%s%s", is_summed ? sums : table, is_summed ? "_sums" : "");
	snprintf(all, sizeof(all), "%s, %s", reading->is_survey ? "0" : "window", columns);
	return query_table(reading->db, name, all, NULL, on_row, context);
}

int reading_bin(const struct reading *reading, s64 window)
{
	const struct diff_run *run = reading->run;

	if (window < run->first_window || window > run->last_window)
		return -1;
	return (int)run->first_bin + run->bin_of[window - run->first_window];
}

u32 reading_text(struct reading *reading, const char *text)
{
	u32 number = strings_add(&reading->diff->strings, text);

	return number == STRINGS_NONE ? 0 : number;
}

u32 reading_column(struct reading *reading, sqlite3_stmt *row, int column)
{
	char text[DIFF_TEXT_BYTES];

	query_text(row, column, text, sizeof(text));
	return reading_text(reading, text);
}

/* Times once: a function's own, not the total too; of calls the time, not how often. */
static bool is_counted(const struct diff_key *key)
{
	return key->measure == DIFF_TIME || key->measure == DIFF_SELF ||
	       (key->measure == DIFF_TIMES &&
		(key->table == DIFF_COUNT || (key->table == DIFF_REQUEST && !key->kind)));
}

struct diff_line *reading_line(struct reading *reading, const struct diff_key *key, double value,
			       int *err)
{
	struct diff *diff = reading->diff;
	bool is_closed = diff->is_closed[key->table];
	struct diff_line *line =
		is_closed ? hash_find(&diff->lines, key) : hash_add(&diff->lines, key);

	if (line && !line->values)
		line->values =
			calloc(reading->is_survey ? 1 : DIFF_BINS_MAX, sizeof(*line->values));
	if (line && line->values)
		return line;
	if (!line && (is_closed || hash_is_full(&diff->lines)))
		diff->no_room[key->table] += is_counted(key) ? value : 0;
	else
		*err = -ENOMEM;
	return NULL;
}

u32 reading_line_number(struct reading *reading, const struct diff_key *key, double value, int *err)
{
	const struct diff_line *line = reading_line(reading, key, value, err);

	if (!line)
		return *err ? 0 : READING_NO_ROOM;
	return 1 + (u32)(line - (struct diff_line *)reading->diff->lines.items);
}

const struct reading_process *reading_process(const struct reading *reading, u64 pid, u64 start_ns)
{
	return hash_find(&reading->processes, &(u64[]){pid, start_ns});
}
