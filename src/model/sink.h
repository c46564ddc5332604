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

struct table {
	const char *name;
	const char *columns; /* as SQL has them: "id INTEGER PRIMARY KEY, comm TEXT" */
	size_t width;	     /* how many columns these are */
	const char *also;    /* more SQL that belongs to it: an index, a view; NULL: nothing */
	u32 object_columns;  /* a bit for each that has the id of an object */
	/* How the row of a later file of the recording goes on from that of an earlier one, as SQL:
	 * "(id) DO UPDATE SET count = count + excluded.count". NULL: it takes its place. */
	const char *continued;
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
