// SPDX-License-Identifier: Apache-2.0
#include "reading.h"

#include <errno.h>
#include <stdlib.h>

#include "../store/query.h"

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
	       (key->measure == DIFF_TIMES && key->table == DIFF_COUNT);
}

struct diff_line *reading_line(struct reading *reading, const struct diff_key *key, double value,
			       int *err)
{
	struct diff *diff = reading->diff;
	struct diff_line *line = hash_add(&diff->lines, key);

	if (line && !line->values)
		line->values = calloc(DIFF_BINS_MAX, sizeof(*line->values));
	if (line && line->values)
		return line;
	if (!line && hash_is_full(&diff->lines))
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
