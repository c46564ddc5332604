/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a session, opened by the side that may open files; the worker that writes into them
 * gets the descriptors. Owns both. Called by commands.
 */
#ifndef DWELL_STORE_FILES_H
#define DWELL_STORE_FILES_H

#include "../../abi/types.h"

struct session_files {
	int db_fd;
	int wal_fd;
	const char *path; /* NULL: in memory only */
};

enum files_end {
	FILES_NEED_WAL, /* the last windows are in the -wal */
	FILES_COMPLETE, /* all is in the one file: the other is removed */
	FILES_UNUSED,	/* nothing is in them: both are removed */
};

/*
 * Makes the file and its -wal, mode 0600, with the rights of the person behind sudo. A session
 * that is there is replaced, and that is said; anything else, and what belongs to others, is left
 * alone: 0 or -errno, told. Whoever has the old files open has the old files.
 */
int files_create(const char *path, struct session_files *ret_files);

/* The same in memory, for who keeps no session: 0 or -errno. */
int files_create_in_memory(struct session_files *ret_files);

/*
 * For reading only, once the worker has ended: the lock is given up, and both are opened again.
 * *ret_wal_fd is -1 if it is not needed. The caller closes them: 0 or -errno.
 */
int files_reopen(const struct session_files *files, enum files_end end, int *ret_db_fd,
		 int *ret_wal_fd);

/*
 * The same while the worker writes, between two windows. The lock stays, so that no other program
 * gets in and checkpoints the -wal: read it by session_open_live_fds().
 */
int files_reopen_live(const struct session_files *files, int *ret_db_fd, int *ret_wal_fd);

/* Has the session still its name? What became of it, in words; NULL: it has, or is in memory. */
const char *files_misplaced(const struct session_files *files);

void files_close(struct session_files *files, enum files_end end);

/* Which files these are, whatever their names become. */
struct files_identity {
	u64 db_device, db_inode;
	u64 wal_device, wal_inode;
};

void files_identify(const struct session_files *files, struct files_identity *ret_identity);

/*
 * Removes the file of this name, and its -wal, if they are still these: 0, -ESTALE if another file
 * has its name or none has, or -errno.
 */
int files_remove(const char *path, const struct files_identity *identity);

#endif
