/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeping the book, and writing it to the session: what ledger.c's struct signal points to.
 */
#ifndef DWELL_LEDGER_BOOK_H
#define DWELL_LEDGER_BOOK_H

#include "../../src/model/signal.h"
#include "ledger.h"

#define LEDGER_TABLE_COUNT 5

enum ledger_table { TABLE_THREADS, TABLE_LEDGER, TABLE_RIVALS, TABLE_LOOPS, TABLE_CHAINS };

extern const struct table ledger_tables[LEDGER_TABLE_COUNT];

void book_on_record(void *state, const struct rec_hdr *record);
void book_flush(void *state, u64 window, struct sink *sink);
void book_close(void *state, struct sink *sink);

#endif
