/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A screen in memory: cells of one column each, with an ink. Views write to it, the terminal or
 * --batch shows it, tests read it. All text passes through here, and comes out escaped: no name
 * reaches a terminal that could move its cursor. Owns its cells.
 */
#ifndef DWELL_TOP_GRID_H
#define DWELL_TOP_GRID_H

#include <stdbool.h>
#include <stdio.h>
#include <wchar.h>

#include "part.h"

enum grid_ink {
	GRID_PLAIN,
	GRID_STRONG,
	GRID_FAINT,
	GRID_HEADING,
	GRID_CURSOR,
	GRID_WARN,
	GRID_PART, /* and the part's number: the last one */
};

struct grid_cell {
	wchar_t character; /* 0: the second half of a wide one */
	unsigned char ink;
};

#define GRID_WIDTH_MAX	1000
#define GRID_HEIGHT_MAX 500

struct grid {
	int width, height;
	bool is_ascii; /* the locale has no UTF-8 */
	struct grid_cell *cells;
};

int grid_init(struct grid *grid, int width, int height); /* 0 or -ENOMEM */
void grid_free(struct grid *grid);
void grid_clear(struct grid *grid);

/* At most columns (-1: all that there are) of the text, escaped: where it ends. */
int grid_put(struct grid *grid, int y, int x, enum grid_ink ink, int columns, const char *text);
int grid_format(struct grid *grid, int y, int x, enum grid_ink ink, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* The same, filled up with spaces: to the right, or to the left of the text. */
int grid_put_left(struct grid *grid, int y, int x, enum grid_ink ink, int columns,
		  const char *text);
int grid_put_right(struct grid *grid, int y, int x, enum grid_ink ink, int columns,
		   const char *text);

/* Inks of a whole line: that of the cursor. */
void grid_ink_line(struct grid *grid, int y, enum grid_ink ink);

/* A character as UTF-8, ended by NUL: how many bytes. */
size_t grid_encode(wchar_t character, char ret_bytes[5]);

/* As text, without spaces at the ends of lines. */
void grid_write(const struct grid *grid, int lines, FILE *out);

#endif
