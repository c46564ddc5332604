/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session is read apart: by a child that has no privilege, no terminal and no file but the
 * session's own, since whoever wrote it may want all of these. Owns the child. Called by commands.
 */
#ifndef DWELL_CMD_APART_H
#define DWELL_CMD_APART_H

/*
 * Runs it in a child that has these two descriptors (-1: none), stdout and stderr: what it
 * returned, or EXIT_FAILED, told. What it wrote to stdout is checked as main.c checks it.
 */
int apart_run(int (*run)(const void *context), const void *context, int db_fd, int wal_fd);

#endif
