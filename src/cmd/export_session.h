/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `dwell export` does with one session, in the process without privileges that reads it: the
 * part that is asked for, what the format needs of it, and the format itself, to stdout. Owns
 * nothing that lasts. Called by the export command.
 */
#ifndef DWELL_CMD_EXPORT_SESSION_H
#define DWELL_CMD_EXPORT_SESSION_H

#include "../export/export.h"
#include "../store/profile_reader.h"
#include "../symbolize/fetched_names.h"

struct export_request {
	const struct exporter *exporter; /* NULL: the host's name alone, as JSON, for a manifest */
	struct export_options export;
	struct session_part part;
	struct fetch_request debuginfod;
	char *path; /* without FROM-TO; the caller's */
};

/* Opens the session and runs it in a child: an exit status, told. */
int export_session(struct export_request *request);

#endif
