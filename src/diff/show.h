/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a comparison writes its numbers and names. Owns nothing. Called by text, JSON, and the
 * sentences that both share. Names out of sessions are escaped here.
 */
#ifndef DWELL_DIFF_SHOW_H
#define DWELL_DIFF_SHOW_H

#include "diff.h"

#define SHOW_BYTES	 64
#define SHOW_LABEL_BYTES 4352 /* of the longest label */

#define SHOW_VALUE(diff, line, value) show_value(diff, line, value, (char[SHOW_BYTES]){0})
#define SHOW_PERCENT(share)	      show_percent(share, (char[SHOW_BYTES]){0})

/* "401 ms", "3,312", "12.4 KiB": without what it is per */
const char *show_value(const struct diff *diff, const struct diff_line *line, double value,
		       char *buf);

/* "+10.0 %", "x 12.7" from tenfold on, "new" for what was not there before */
const char *show_percent(double share, char *buf);

/* " per s", "" for a value itself */
const char *show_per(const struct diff *diff, const struct diff_line *line, char *buf);

/* "cpu.user of pages (pages.service)", "self CPU time of compute (server)" */
void show_label(const struct diff *diff, const struct diff_line *line, char *buf, size_t size);

/* The same for a row of its table, which says the rest: "pages  cpu.user". */
void show_short(const struct diff *diff, const struct diff_line *line, char *buf, size_t size);

#endif
