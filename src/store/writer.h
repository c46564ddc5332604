/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a session: the tables, and per window one transaction, so that a writer that is killed
 * leaves every window that was complete. Owns the connection, not the descriptors. Called by the
 * unprivileged worker.
 */
#ifndef DWELL_STORE_WRITER_H
#define DWELL_STORE_WRITER_H

#include <stdbool.h>

#include "../model/sink.h"
#include "../model/source.h"

struct writer;

/* Both files are empty. 0 or -errno, told. */
int writer_open(int db_fd, int wal_fd, struct writer **ret_writer);

/* One that a writer left that was killed: it goes on after the last window that is complete. */
int writer_resume(int db_fd, int wal_fd, struct writer **ret_writer);

/* What it has so far. */
struct source *writer_source(struct writer *writer);

/* Rows given to it wait for writer_commit(). */
struct sink *writer_sink(struct writer *writer);

/*
 * Ends the transaction: 0 or -errno. After the first failure, which is told, nothing more is
 * written: a window that is missing in the middle would break every sum over the session.
 */
int writer_commit(struct writer *writer);

u64 writer_lost_rows(const struct writer *writer);

/* Writes the sums of large tables (totals.h), once all else is written. It takes up to 10 s. */
void writer_total(struct writer *writer);

/* Leaves one file; the -wal is empty after it. 0 or -errno: then the -wal is still needed. */
int writer_close(struct writer *writer);

#endif
