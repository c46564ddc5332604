/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeping the book, and writing it to the session: what ledger.c's struct signal points to.
 */
#ifndef DWELL_LEDGER_BOOK_H
#define DWELL_LEDGER_BOOK_H

#include "../../src/model/signal.h"
#include "ledger.h"

#define LEDGER_TABLE_COUNT 8

enum ledger_table {
	TABLE_THREADS,
	TABLE_LEDGER,
	TABLE_RIVALS,
	TABLE_LOOPS,
	TABLE_CHAINS,
	TABLE_THREAD_STATES,
	TABLE_THREAD_CAUSES,
	TABLE_WINDOW_STATES
};

/*
 * A thread's row in threads is written when it comes, is renamed or ends, when the session does,
 * and in every so many windows: a row that is replaced costs more than those that are added. Up to
 * when its time is told, its rows in ledger say themselves.
 */
#define THREADS_EVERY 32

/* a - b, or 0 if that is negative */
static inline u64 less(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

static inline u64 smaller(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* tables.c */
extern const struct table ledger_tables[LEDGER_TABLE_COUNT];

void book_on_record(void *state, const struct rec_hdr *record);
void book_flush(void *state, u64 window, struct sink *sink);
void book_close(void *state, struct sink *sink);
void book_renew(void *state, u64 window, struct sink *sink);

#endif
