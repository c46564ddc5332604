/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session is read by a child process that has no privilege, no terminal and no file but the
 * session's own, since whoever wrote it may want all of these. It can open none, nor a socket, nor
 * start a program. Owns the child. Called by commands.
 */
#ifndef DWELL_CMD_READER_PROCESS_H
#define DWELL_CMD_READER_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "../symbolize/fetched_names.h"

struct reader_process {
	pid_t pid; /* 0: none */
	struct sandbox_notes *notes;
};

/*
 * Runs it in a child that has these two descriptors (-1: none), stdout and stderr: what it
 * returned, or EXIT_FAILED, told. What it wrote to stdout is checked as main.c checks it. If it is
 * to fetch names (NULL, or a limit of 0: no), it finds who fetches them in the request.
 */
int reader_process_run(int (*run)(const void *context), const void *context, int db_fd, int wal_fd,
		       struct fetch_request *fetch);

/* The same with as many descriptors as there are sessions to read, -1 for those that are not there.
 */
int reader_process_run_all(int (*run)(const void *context), const void *context, const int *fds,
			   size_t fd_count);

/* The same in two steps: the caller goes on while the child reads. 0, or EXIT_FAILED, told. */
int reader_process_start(struct reader_process *ret_reader, int (*run)(const void *context),
			 const void *context, int db_fd, int wal_fd, struct fetch_request *fetch);
int reader_process_start_all(struct reader_process *ret_reader, int (*run)(const void *context),
			     const void *context, const int *fds, size_t fd_count);
bool reader_process_is_running(const struct reader_process *reader);
int reader_process_wait(struct reader_process *reader); /* as reader_process_run() */

#endif
