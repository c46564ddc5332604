/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the store's own tables as bytes, for the way from the privileged process to the worker.
 * The buffer is the caller's. Packed by commands, read by the worker's side of a session.
 */
#ifndef DWELL_STORE_ROWS_H
#define DWELL_STORE_ROWS_H

#include <stdbool.h>

#include "tables.h"

#define ROWS_BYTES 4096

struct rows {
	size_t size;
	char bytes[ROWS_BYTES];
};

/* Appends one row, of as many cells as the table has columns (hooks: but the last); text that is
 * too long is cut. False if there is no room: send what is there, and begin anew with size 0. */
bool rows_add(struct rows *rows, enum store_table table, const struct cell *cells);

/* Gives each row to sink: 0, or -EBADMSG for bytes that rows_add() did not write. */
int rows_read(const void *bytes, size_t size, struct sink *sink);

#endif
