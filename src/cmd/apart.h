/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session is read apart: by a child that has no privilege, no terminal and no file but the
 * session's own, since whoever wrote it may want all of these. It can open none, nor a socket, nor
 * start a program. Owns the child. Called by commands.
 */
#ifndef DWELL_CMD_APART_H
#define DWELL_CMD_APART_H

#include "../symbolize/fetched_names.h"

/*
 * Runs it in a child that has these two descriptors (-1: none), stdout and stderr: what it
 * returned, or EXIT_FAILED, told. What it wrote to stdout is checked as main.c checks it. If it is
 * to fetch names (NULL, or a limit of 0: no), it finds who fetches them in the request.
 */
int apart_run(int (*run)(const void *context), const void *context, int db_fd, int wal_fd,
	      struct fetch_request *fetch);

#endif
