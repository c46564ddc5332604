/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A short line of printable ASCII, written piece by piece into a buffer of fixed size; one that is
 * longer ends in "...". Owns nothing. Called by the parsers of this folder.
 */
#ifndef DWELL_REQUESTS_PRINTABLE_H
#define DWELL_REQUESTS_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "bytes.h"

struct printable {
	char *to;
	size_t size, length;
	bool is_cut; /* it ends in "...": nothing is added any more */
};

/* size: at least 4. */
void printable_begin(struct printable *line, char *to, size_t size);

/* What is not printable ASCII becomes '?'; so do quotes and backslashes. */
void printable_add(struct printable *line, struct bytes bytes);
void printable_add_upper(struct printable *line, struct bytes bytes);
void printable_add_text(struct printable *line, const char *text);

/* The whole line at once. */
void printable_set(char *to, size_t size, const char *text);

#endif
