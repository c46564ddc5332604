/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of a text file of any size, one after the other, through a small buffer.
 * Owns nothing. Called by kallsyms and perf_map.
 */
#ifndef DWELL_SYMBOLIZE_LINE_FEED_H
#define DWELL_SYMBOLIZE_LINE_FEED_H

#include <stdbool.h>

#include "../../abi/types.h"

#define LINE_FEED_MAX 8191 /* bytes of a line; what is longer is cut */

/* Takes a line without its newline: 0, or -errno, which ends the reading. */
typedef int (*line_feed_fn)(void *context, const char *line, size_t length);

/*
 * Hands over every line of the file's first bytes_max bytes that ends in a newline: a last one that
 * does not is still being written. 0, or -errno of reading or of take(); -EFBIG: there was more.
 */
int line_feed(int fd, u64 bytes_max, line_feed_fn take, void *context);

/* How far a file was read that others still write to. */
struct line_feed_place {
	u64 at;		/* its lines before this byte were handed over */
	bool is_inside; /* of a line that was too long: its rest is passed over */
};

/* The same from there on, and *place is moved on; bytes_max counts from the file's beginning. */
int line_feed_from(int fd, struct line_feed_place *place, u64 bytes_max, line_feed_fn take,
		   void *context);

#endif
