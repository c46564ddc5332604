/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of requests that were kept, of their parts and of their calls, in the part `requests`.
 * Owns nothing. Called by requests.c.
 */
#ifndef DWELL_PAGE_REQUEST_ROWS_H
#define DWELL_PAGE_REQUEST_ROWS_H

#include "data.h"

/* Who held up a request, or which file it waited for. */
struct blamed {
	s32 thread; /* PAGE_NONE: a file, or not in the page */
	u32 name;
};
struct blamed request_blamed(struct page_data *data, u32 part, u64 who);

/* Members of an object that has been begun. Places of endpoints by the digest's indices; those of
 * PAGE_NONE have no requests in the page. 0 or -errno. */
int request_rows_write(struct page_data *data, struct part *part, const s32 *endpoint_at);

#endif
