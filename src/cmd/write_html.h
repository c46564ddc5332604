/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTML report of a session, or of two that are compared, written by children without privileges
 * into a file that was opened as whoever asks. Owns nothing. Called by report and diff.
 */
#ifndef DWELL_CMD_WRITE_HTML_H
#define DWELL_CMD_WRITE_HTML_H

#include "../report/report.h"

struct html_page {
	const char *file; /* or "-": stdout */
	const char *session;
	const struct report_options *options; /* what of the session is shown */
	const char *baseline;		      /* another session, or NULL */
	u64 baseline_from_ns, baseline_to_ns; /* of it, as in struct session_part */
	/* Writes what comes before the sessions, with html_page_open(): a status; NULL: nothing. */
	int (*open)(void *context);
	void *context;
};

/* The status to end with: EXIT_OVER if open() returned that and the page was written. */
int write_html(const struct html_page *page);

#endif
