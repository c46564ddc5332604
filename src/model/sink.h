/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a signal's results go: rows of tables that the signal itself declares. Owns nothing.
 * The store implements it; signals call it, once per window.
 */
#ifndef DWELL_MODEL_SINK_H
#define DWELL_MODEL_SINK_H

#include <stddef.h>
#include <string.h>

#include "../../abi/types.h"

struct table_sums;

struct table {
	const char *name;
	const char *about;   /* what one row is: "thread, with ..." */
	const char *columns; /* as SQL has them: "id INTEGER PRIMARY KEY, comm TEXT" */
	size_t width;	     /* how many columns these are */
	const char *also;    /* more SQL that belongs to it: an index, a view; NULL: nothing */
	u32 object_columns;  /* a bit for each that has the id of an object */
	const struct table_sums *sums; /* of its rows; NULL: none are kept */
	size_t sums_count;
	const char *sums_of; /* filled by the store, with sums of this table; NULL: by a signal */
	/*
	 * How the row of a later file of the recording continues that of an earlier one, as SQL:
	 * "(id) DO UPDATE SET count = count + excluded.count". NULL: it takes its place.
	 */
	const char *continued;
};

/* A table of sums of another table's rows, over all windows (store/sums.h). */
struct table_sums {
	struct table table; /* its columns: keys and sums as in the other table, squares */
	u32 keys;      /* a bit for each column that tells rows apart: numbers, or short texts */
	u32 texts;     /* of these, the texts */
	u32 sums;      /* a bit for each column that is added up; all come after the keys */
	u8 squares_of; /* adds up this column's square over squares_by; 0: nothing */
	u8 squares_by;
	u32 max; /* how many sums are kept in memory */
	/*
	 * Of a table by windows, its first column: a row of no event (the last of its sums is 0)
	 * whose first sum is longer than this covers several windows, evenly, the last of which is
	 * its own. It goes to `steps`, the last column: by how much the time of each window from
	 * there on is more. 0: no row is such.
	 */
	u64 window_ns;
};

enum cell_kind { CELL_NULL, CELL_NUMBER, CELL_TEXT };

struct cell {
	enum cell_kind kind;
	s64 number;
	const char *text; /* valid until sink->add() returns */
	size_t length;
};

struct sink {
	/* One row, of table->width cells. One with the same primary key is replaced. */
	void (*add)(struct sink *sink, const struct table *table, const struct cell *cells);
};

static inline void sink_drop_row(struct sink *sink, const struct table *table,
				 const struct cell *cells)
{
	(void)sink;
	(void)table;
	(void)cells;
}

/* Rows go nowhere: what they say counts as told. */
static inline struct sink sink_nowhere(void)
{
	return (struct sink){sink_drop_row};
}

static inline struct cell cell_number(u64 number)
{
	return (struct cell){.kind = CELL_NUMBER, .number = (s64)number};
}

/* At most max bytes of text that need not be ended by NUL; none at all is NULL. */
static inline struct cell cell_text(const void *text, size_t max)
{
	size_t length = strnlen(text, max);

	return length ? (struct cell){.kind = CELL_TEXT, .text = text, .length = length}
		      : (struct cell){.kind = CELL_NULL};
}

#endif
