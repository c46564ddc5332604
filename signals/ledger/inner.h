/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads by the numbers that they have in the pid namespace of their process: a lock names its
 * holder so. Owns nothing: the index is the book's. Called by book.c and page.c.
 */
#ifndef DWELL_LEDGER_INNER_H
#define DWELL_LEDGER_INNER_H

#include "ledger.h"

/* Of all that are in the book now, before a window is written. */
void inner_index(struct ledger_book *book);

/*
 * The holder of a lock for which this thread waited, by its number in dwell's own namespace. One
 * that is not, or no longer, in the book keeps the number it has.
 */
u32 inner_holder(struct ledger_book *book, const struct rec_ledger *row, u32 holder);

#endif
