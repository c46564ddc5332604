/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of the page: columns that say what is in them, and rows. One renderer shows all tables,
 * so a new one is one function, here in C, and its row in tables.def. Owns its cells while it is
 * filled. Called by the functions of tables.def.
 */
#ifndef DWELL_PAGE_TABLE_H
#define DWELL_PAGE_TABLE_H

#include "data.h"

#define TABLE_COLUMNS_MAX 24

enum table_unit {
	TABLE_TEXT,
	TABLE_NS,
	TABLE_BYTES,
	TABLE_COUNT,
	TABLE_PERCENT,
	TABLE_RATE,
	TABLE_ID,     /* a number that is a name: no separators, no sums */
	TABLE_NODE,   /* a stack: a node of the part `stacks` */
	TABLE_STATE,  /* an id of head.states */
	TABLE_TIME,   /* since the session's start: a click goes there */
	TABLE_THREAD, /* an index of subjects.threads, as the next two are */
	TABLE_PROCESS,
	TABLE_GROUP,
};

struct table_column {
	const char *key;   /* letters, digits and _ */
	const char *title; /* "": as the key */
	enum table_unit unit;
};

struct table_cell {
	enum list_cell_kind kind; /* LIST_NULL, LIST_NUMBER or LIST_REAL */
	s64 number;
	double real;
};

struct page_table {
	const char *id, *tab, *title, *about;
	const struct table_column *columns;
	size_t column_count;
	/* filled by the functions below */
	struct page_data *data;
	struct part *part;
	struct table_cell (*rows)[TABLE_COLUMNS_MAX];
	size_t row_count;
	u64 left_out;
	int err;
};

/* What all tables are written to. */
struct table_list {
	struct page_data *data;
	struct part *part;
	size_t count;
	u64 left_out;
};

/* A function of tables.def; it adds one table, or several, or none where there is no data. */
typedef int table_fn(struct table_list *list);
#define TABLES(name) table_fn tables_##name;
#include "tables.def"
#undef TABLES

/* The tab of a signal's tables. */
const char *table_tab_of(const char *signal);

/* id, title, about and columns are the caller's, and stay until table_end(); tab stays for ever. */
void table_begin(struct table_list *list, struct page_table *table);

/* One more row; false: no more are wanted, those that were are counted, or no memory. Rows come in
 * the order that matters: the most important first. */
bool table_row(struct page_table *table);

/* Cells of the last row; those that are not set have no value. */
void table_number(struct page_table *table, size_t column, s64 number);
void table_real(struct page_table *table, size_t column, double number);
void table_text(struct page_table *table, size_t column, const char *text);
void table_stack(struct page_table *table, size_t column, u64 stack);
void table_at(struct page_table *table, size_t column, s32 place); /* a subject; PAGE_NONE: none */

/* Writes it, unless it has no rows, and frees it: 0 or -errno. */
int table_end(struct table_list *list, struct page_table *table);

#endif
