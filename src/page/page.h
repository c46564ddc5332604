/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTML report of a session: the page that web/ builds, which is in this program, and the
 * session's data (docs/page-data.md). Owns nothing. Called by commands, in the process that reads
 * sessions.
 */
#ifndef DWELL_PAGE_PAGE_H
#define DWELL_PAGE_PAGE_H

#include "../report/report.h"

struct diff;

/* A session's data in a page: a page of two is written by two processes, one after the other. */
struct page_session {
	sqlite3 *db;
	const struct report_options *options;
	const char *file;   /* its name, as it is shown */
	bool is_baseline;   /* of the one before it in the page */
	bool opens, closes; /* the page: what comes before all data, and after it */
};

/* Was this program built with the page? */
bool page_is_built_in(void);

/* 0 or -errno, told. */
int html_page_write(const struct page_session *session, FILE *out);

/* Opens a page with a comparison, which the sessions that it is of follow: 0, -ENOMEM, or
 * another -errno, told. */
int html_page_open(const struct diff *diff, FILE *out);

#endif
