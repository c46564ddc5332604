/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer of `dwell query`: a table for people, CSV or JSON for programs. What is in its cells
 * is foreign: a table has it escaped for a terminal, the others quoted as their format wants it.
 * Owns what it keeps of a table until that is printed. Called by query.c.
 */
#ifndef DWELL_CMD_QUERY_PRINT_H
#define DWELL_CMD_QUERY_PRINT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

#include "../../abi/types.h"

enum query_format { QUERY_TABLE, QUERY_CSV, QUERY_JSON };

#define QUERY_CELL_BYTES  65536	     /* of CSV and JSON; more of a text is cut */
#define QUERY_TABLE_BYTES 4096	     /* of a cell of a table, likewise */
#define QUERY_KEPT_BYTES  (64 << 20) /* of a whole table: the rows beyond are left out */

struct query_print {
	FILE *out;
	enum query_format format;
	int columns;  /* of the terminal; 0: it is none, and nothing is shortened */
	u64 cut;      /* cells */
	u64 left_out; /* rows of a table, for want of room */
	/* The rest is query_print.c's own. */
	int width;	       /* columns of the answer */
	char **names, **cells; /* of a table, row by row */
	bool *is_text;	       /* by column */
	size_t cell_count, kept_bytes;
	u64 rows;
};

/* 0 or -ENOMEM, told. */
int query_print_columns(sqlite3_stmt *row, void *print);
int query_print_row(sqlite3_stmt *row, void *print);
/* All that is left to print: as above. */
int query_print_end(struct query_print *print);
void query_print_free(struct query_print *print);

#endif
