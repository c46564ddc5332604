/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of one recording (--rotate) as one session: the second continues the first. Runs in a
 * process without privileges, as everything that reads a session. Owns nothing. Called by top.
 */
#ifndef DWELL_STORE_MERGE_H
#define DWELL_STORE_MERGE_H

/*
 * Adds the file of from_fd, which begins where the one of to_fd ends; both are complete. 0 or
 * -errno, told; then to_fd is not to be used.
 */
int session_merge(int to_fd, int from_fd);

#endif
