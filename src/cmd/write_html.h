/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTML report of a session, written by children without privileges into a file that was opened
 * as whoever asks. Owns nothing. Called by report.
 */
#ifndef DWELL_CMD_WRITE_HTML_H
#define DWELL_CMD_WRITE_HTML_H

#include "../report/report.h"

/* html: a file, or "-" for stdout; baseline: another session, or NULL. The status to end with. */
int write_html(const char *html, struct report_options *options, const char *session,
	       const char *baseline);

#endif
