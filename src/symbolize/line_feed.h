/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of a text file of any size, one after the other, through a small buffer.
 * Owns nothing. Called by kallsyms and perf_map.
 */
#ifndef DWELL_SYMBOLIZE_LINE_FEED_H
#define DWELL_SYMBOLIZE_LINE_FEED_H

#include "../../abi/types.h"

#define LINE_FEED_MAX 8191 /* bytes of a line; what is longer is cut */

/* Takes a line without its newline: 0, or -errno, which ends the reading. */
typedef int (*line_feed_fn)(void *context, const char *line, size_t length);

/*
 * Hands over every line of the file's first bytes_max bytes that ends in a newline: a last one that
 * does not is still being written. 0, or -errno of reading or of take(); -EFBIG: there was more.
 */
int line_feed(int fd, u64 bytes_max, line_feed_fn take, void *context);

#endif
