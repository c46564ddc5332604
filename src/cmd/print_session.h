/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report of a session, printed by a child without privileges: whoever wrote the session is not
 * trusted. Owns nothing. Called by report, run and trace.
 */
#ifndef DWELL_CMD_PRINT_SESSION_H
#define DWELL_CMD_PRINT_SESSION_H

#include <stdio.h>

#include "../engine/engine.h"
#include "../report/report.h"

/* name: the session's, for messages. EXIT_OK, or EXIT_FAILED, told. */
int print_session(struct report_options *options, const char *name, int db_fd, int wal_fd,
		  FILE *out);

/* The same of a session that was just written: its files are opened again. */
int print_result(struct report_options *options, const struct engine_result *result, FILE *out);

#endif
