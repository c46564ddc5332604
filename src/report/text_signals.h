/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals in the report that a person reads: tables of series, histograms, slow events, lists. Own
 * nothing. Called by report.c.
 */
#ifndef DWELL_REPORT_TEXT_SIGNALS_H
#define DWELL_REPORT_TEXT_SIGNALS_H

#include "text.h"

void text_signals(const struct digest *digest, const struct page *page);

/* The parts of a signal's section. */
void text_series(const struct digest *digest, const struct page *page, const struct measured *of,
		 u32 kind);
size_t text_measures(const struct measured *of); /* that have values */

/* All values are 1: how many there are is all that can be said of them. */
bool text_is_tally(enum series_unit unit, const struct hist *hist);

/* A few of each measure, where there are many of these. */
void text_series_mixed(const struct digest *digest, const struct page *page,
		       const struct measured *of);
void text_histogram(const struct digest *digest, const struct page *page, const struct measured *of,
		    u32 kind, const struct hist *hist);
void text_slow(const struct digest *digest, const struct page *page, const struct measured *of);
void text_lists(const struct digest *digest, const struct page *page, const struct measured *of);

/*
 * What the name of a column says of the numbers in it: x_ns is a time, ts_ns a moment, x_bytes a
 * size, x_stack a stack, x_object an object, pid a process, x_tid, holder and waker a thread. Not
 * escaped.
 */
#define LIST_HEAD_BYTES 48
void list_number(const struct digest *digest, const char *column, s64 number, char *buf,
		 size_t size);
void list_head(const char *column, char *buf, size_t size);
bool list_is_tid(const char *column);

/* Texts in rows: as columns where they fit beside the numbers, else above them. */
#define GRID_COLUMNS_MAX 16
#define GRID_ROWS_MAX	 32
#define GRID_TEXT	 256

struct grid {
	const char *heads[GRID_COLUMNS_MAX];
	bool is_right[GRID_COLUMNS_MAX];			/* numbers end in line */
	char cells[GRID_ROWS_MAX][GRID_COLUMNS_MAX][GRID_TEXT]; /* escaped */
	size_t columns, rows;
	size_t texts;  /* so many of the columns come first, and are what a row is about */
	bool is_tight; /* grid_print()'s own: texts stand close, so that they fit */
};

void grid_print(const struct page *page, struct grid *grid);

#endif
