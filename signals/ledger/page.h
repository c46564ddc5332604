/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread's part of a window, as the session gets it: what its account has more than was told
 * before, by state and cause. Owns nothing. Called by the book.
 */
#ifndef DWELL_LEDGER_PAGE_H
#define DWELL_LEDGER_PAGE_H

#include "../../src/model/signal.h"
#include "ledger.h"

/* Returns what is left to be done for the thread: enum ledger_mark. */
u8 page_write(struct ledger_book *book, const struct rec_ledger *row,
	      struct ledger_written *written, u64 window, struct sink *sink);

/* Its row in threads, which takes the place of an earlier one. */
void page_write_thread(const struct rec_ledger *row, const struct ledger_written *written,
		       struct sink *sink);

/* What was told so far is in earlier files: the next one begins there. */
void page_begin_file(const struct rec_ledger *row, struct ledger_written *written);

#endif
