/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens a session for reading. The file may come from anywhere: it is read without trusting its
 * schema, within limits, through descriptors. Whoever is root opens them, drops its privileges,
 * and then calls session_open_fds(). Called by commands; owns the connection.
 */
#ifndef DWELL_STORE_READER_H
#define DWELL_STORE_READER_H

#include <sqlite3.h>
#include <stdbool.h>

struct session;

/* *ret_wal_fd is -1 if there is none: 0 or -errno, told. The caller closes both. */
int session_open_files(const char *path, int *ret_db_fd, int *ret_wal_fd);

/* The descriptors stay the caller's, and open until session_close(). name is for messages. */
int session_open_fds(int db_fd, int wal_fd, const char *name, struct session **ret_session);

/* The same for a session that this dwell itself writes and has locked, between two windows. */
int session_open_live_fds(int db_fd, int wal_fd, const char *name, struct session **ret_session);

/* Both at once, for who has no privilege to drop. */
int session_open(const char *path, struct session **ret_session);

sqlite3 *session_db(const struct session *session);
void session_close(struct session *session);

/* Has the file the mark of a session, whatever its version? */
bool session_is_one(int db_fd);

#endif
