/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session already has, for who continues it: rows of tables that a signal itself declares.
 * Owns nothing. The store implements it; signals call it, once, in resume().
 */
#ifndef DWELL_MODEL_SOURCE_H
#define DWELL_MODEL_SOURCE_H

#include <stdbool.h>

#include "sink.h"

/* False: no more rows are wanted. Texts are valid until it returns, and end with NUL. */
typedef bool (*source_row)(void *context, const struct cell *cells);

#define SOURCE_WIDTH_MAX 24

struct source {
	/*
	 * Rows of "SELECT columns FROM rest", width of these, at most SOURCE_WIDTH_MAX: 0 or
	 * -errno.
	 */
	int (*each)(struct source *source, const char *columns, size_t width, const char *rest,
		    source_row on_row, void *context);
};

/* What a cell has; 0 and "" if it is of another kind. */
static inline u64 cell_as_number(const struct cell *cell)
{
	return cell->kind == CELL_NUMBER ? (u64)cell->number : 0;
}

static inline const char *cell_as_text(const struct cell *cell)
{
	return cell->kind == CELL_TEXT ? cell->text : "";
}

/* The highest number in a column, 0 if there is none. */
u64 source_highest(struct source *source, const char *column, const char *table);

#endif
