/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a session, opened by the side that may open files; the worker that writes into them
 * gets the descriptors. Owns both. Called by commands.
 */
#ifndef DWELL_STORE_FILES_H
#define DWELL_STORE_FILES_H

struct session_files {
	int db_fd;
	int wal_fd;
	const char *path; /* NULL: in memory only */
};

/*
 * Makes the file and its -wal, mode 0600, owned by the person behind sudo. One that is there is
 * overwritten if it is a session, and that is said; anything else is left alone: 0 or -errno, told.
 */
int files_create(const char *path, struct session_files *ret_files);

/* The same in memory, for who keeps no session: 0 or -errno. */
int files_create_in_memory(struct session_files *ret_files);

/* Closes both. is_complete: all is in the one file, and the other is removed. */
void files_close(struct session_files *files, int is_complete);

#endif
