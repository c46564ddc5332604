/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of one recording (--rotate) as one session. Runs in a process without privileges, as
 * everything that reads a session. Owns nothing. Called by top.
 */
#ifndef DWELL_STORE_MERGE_H
#define DWELL_STORE_MERGE_H

#include <stddef.h>

/*
 * Adds the files of from_fds to the one of to_fd: each begins where the one before it ends, and all
 * are complete. Of none of them meta says any more that it is one of several. 0 or -errno, told;
 * then to_fd is not to be used.
 */
int session_merge(int to_fd, const int *from_fds, size_t count);

#endif
