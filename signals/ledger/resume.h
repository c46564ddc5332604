/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of a session that another process has begun, and that has died. Owned by the book.
 */
#ifndef DWELL_LEDGER_RESUME_H
#define DWELL_LEDGER_RESUME_H

#include "../../src/model/signal.h"
#include "ledger.h"

/* As struct signal has them. */
void book_resume(void *state, const struct resumed *resumed);
void book_release(void *state);

/* The first row of a thread: if the session has it, it goes on there. */
void resume_thread(const struct ledger_book *book, const struct rec_ledger *row,
		   struct ledger_written *written);

/* Once: the rows of threads say how far their time is told. */
void resume_write_known(struct ledger_book *book, struct sink *sink);

/* The page that goes on: what happened since is not known, but how long it was; as page_write(). */
u8 resume_page(struct ledger_book *book, const struct rec_ledger *row,
	       struct ledger_written *written, u64 window, struct sink *sink);

#endif
