/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections of HTTP/2: the tables by which their header blocks are read, kept from records of all
 * blocks that change them. Of a connection that is older than the recording, or of which a record
 * was lost, there is none: names are known then where blocks spell them out. Owns the tables.
 * Called by book.c.
 */
#ifndef DWELL_REQUESTS_H2_BOOK_H
#define DWELL_REQUESTS_H2_BOOK_H

#include "../../abi/records.h"
#include "../../src/base/hash.h"
#include "hpack.h"
#include "protocol.h"

#define H2_CONNECTIONS_MAX 256 /* whose tables are kept at a time */

struct h2_book {
	struct hash connections;
	u64 lost;	  /* connections whose frames could not be followed any more, ever */
	u64 lost_streams; /* that were open then */
	u64 not_kept;	  /* connections beyond the limit, ever */
};

void h2_book_open(struct h2_book *book);
void h2_book_free(struct h2_book *book);

/* REQUEST_IS_BLOCK: a block that may change a table. */
void h2_book_add(struct h2_book *book, const struct rec_requests *record, u64 window);

/* REQUEST_IS_STREAM: what it was asked, and what it answered. */
void h2_book_name(const struct h2_book *book, const struct rec_requests *record, u64 window,
		  struct request_text *ret);
void h2_book_answer(const struct h2_book *book, const struct rec_requests *record,
		    struct answer_text *ret);

/* A window is over: connections that have closed, or were idle for long, are forgotten. */
void h2_book_close(struct h2_book *book, const struct rec_requests *record, u64 window);
void h2_book_sweep(struct h2_book *book, u64 window);

#endif
