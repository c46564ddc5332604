/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of stacks in a session, and their rows: symbol names are looked up when these are
 * written. Owns nothing. Called by stack.c.
 */
#ifndef DWELL_STACK_ROWS_H
#define DWELL_STACK_ROWS_H

#include "../../src/model/signal.h"
#include "stack.h"

#define STACK_TABLE_COUNT 4

extern const struct table stack_tables[STACK_TABLE_COUNT];

/*
 * What the file does not have yet, and something in it refers to. Frames whose names are not known
 * yet wait for the next time, unless this is the last.
 */
void stack_write_due(struct stack_book *book, bool is_last, struct sink *sink);

#endif
