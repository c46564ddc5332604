/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite over two descriptors: the session file and its -wal. The process that uses it may open no
 * file at all, so SQLite gets nothing else either: every other name is refused, temporary things
 * stay in memory. Owns its registration, not the descriptors. Called by the writer and the reader.
 */
#ifndef DWELL_STORE_VFS_H
#define DWELL_STORE_VFS_H

#include <sqlite3.h>
#include <stdbool.h>

struct vfs {
	sqlite3_vfs base;
	char name[32];
	int db_fd;
	int wal_fd; /* -1: as if it were empty; of a reader only */
	bool is_writer;
	int last_errno; /* of the last call that failed, for the message */
};

/* Before a sandbox is entered, in which SQLite cannot read the seed of its random numbers. */
void vfs_prepare(void);

/* Opens a connection through *vfs, which must stay where it is until vfs_close(): 0 or -errno. */
int vfs_open(struct vfs *vfs, int db_fd, int wal_fd, bool is_writer, sqlite3 **ret_db);
void vfs_close(struct vfs *vfs, sqlite3 *db);

/*
 * Taken on the bytes that SQLite itself would lock, so that a client that comes by sees it. The
 * lock is the open file's: whoever holds a descriptor of it holds the lock: 0, -EBUSY or -errno.
 */
int vfs_lock(int db_fd, bool is_writer);
void vfs_unlock(int db_fd);

#endif
