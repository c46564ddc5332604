// SPDX-License-Identifier: Apache-2.0
#include "sql.h"

#include <errno.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/log.h"
#include "../base/utf8.h"
#include "authorize.h"

#define STEPS_AT_ONCE 20000 /* of SQLite's machine, between two looks at the clock */

struct run {
	sqlite3 *db;
	const struct sql_limits *limits;
	const char *hint;
	u64 deadline_ns;
	bool is_late;
	struct authorizer *authorizer;
};

/* Other than 0 ends the query, with SQLITE_INTERRUPT. */
static int look_at_clock(void *context)
{
	struct run *run = context;

	run->is_late = clock_now_ns() > run->deadline_ns;
	return run->is_late;
}

static int tell(const struct run *run, int code)
{
	char why[512];

	if (run->is_late) {
		log_error("the query took longer than %llu s and was ended; ask for less, or give "
			  "it more with --timeout",
			  (unsigned long long)(run->limits->time_ns / NS_PER_S));
		return -ETIME;
	}
	if ((code & 0xff) == SQLITE_NOMEM) {
		log_error("not enough memory for the query, which may use %lld MiB; ask for less",
			  SQL_MEMORY_BYTES >> 20);
		return -ENOMEM;
	}
	if ((code & 0xff) == SQLITE_AUTH) {
		log_error("dwell query only reads: %s; %s",
			  run->authorizer ? authorize_refusal(run->authorizer) : "", run->hint);
		return -EINVAL;
	}
	utf8_escape(why, sizeof(why), sqlite3_errmsg(run->db)); /* it may quote the file */
	log_error("the query failed: %s; %s", why, run->hint);
	return -EINVAL;
}

/* Is there another statement? Blanks and comments are none. */
static bool has_more(sqlite3 *db, const char *rest)
{
	sqlite3_stmt *next = NULL;
	bool has = false;

	while (!has && rest && *rest) {
		const char *at = rest;

		has = sqlite3_prepare_v2(db, at, -1, &next, &rest) || next;
		sqlite3_finalize(next);
		if (rest == at)
			break;
	}
	return has;
}

static int prepare(const struct run *run, const char *text, sqlite3_stmt **ret_row)
{
	const char *rest = NULL;
	int code = sqlite3_prepare_v2(run->db, text, -1, ret_row, &rest);

	if (code)
		return tell(run, code);
	if (!*ret_row || has_more(run->db, rest)) {
		log_error("dwell query takes one SELECT, %s; %s",
			  *ret_row ? "and there is more after it" : "and there is none", run->hint);
		return -EINVAL;
	}
	if (!sqlite3_stmt_readonly(*ret_row) || !sqlite3_column_count(*ret_row)) {
		log_error("dwell query only reads: it is no SELECT; %s", run->hint);
		return -EINVAL;
	}
	return 0;
}

static int read_rows(const struct run *run, sqlite3_stmt *row, sql_fn *on_row, void *context,
		     struct sql_reading *reading)
{
	int err = 0, step;

	while (!err && (step = sqlite3_step(row)) != SQLITE_DONE) {
		if (step != SQLITE_ROW)
			return tell(run, step);
		if (reading->rows == run->limits->rows) {
			reading->is_cut = true;
			return 0;
		}
		reading->rows++;
		err = on_row(row, context);
	}
	return err;
}

int sql_run(sqlite3 *db, const char *text, const struct sql_limits *limits, const char *hint,
	    sql_fn *on_columns, sql_fn *on_row, void *context, struct sql_reading *ret_reading)
{
	struct run run = {db, limits, hint, clock_now_ns() + limits->time_ns, false, NULL};
	sqlite3_stmt *row = NULL;
	int err, code;

	*ret_reading = (struct sql_reading){0};
	sqlite3_hard_heap_limit64(SQL_MEMORY_BYTES);
	sqlite3_progress_handler(db, STEPS_AT_ONCE, look_at_clock, &run);
	code = authorize_begin(db, &run.authorizer);
	err = code ? tell(&run, code) : prepare(&run, text, &row);
	if (!err)
		err = on_columns(row, context);
	if (!err)
		err = read_rows(&run, row, on_row, context, ret_reading);
	sqlite3_finalize(row);
	authorize_end(run.authorizer);
	sqlite3_progress_handler(db, 0, NULL, NULL);
	return err;
}
