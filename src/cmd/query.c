// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/log.h"
#include "../base/text.h"
#include "../store/reader.h"
#include "../store/sql.h"
#include "../store/views.h"
#include "cmd.h"
#include "query_list.h"
#include "query_print.h"
#include "reader_process.h"
#include "session_options.h"

#define TIME_LIMIT_S	 60
#define TIME_LIMIT_MAX_S 86400
#define TABLE_ROWS	 1000
#define PROGRAM_ROWS	 1000000
#define ROWS_MAX	 1000000000
#define LIST_COLUMNS	 80

static const char usage[] =
	"Usage: dwell query [OPTIONS] FILE[@FROM-TO] SELECT\n"
	"       dwell query --list FILE\n"
	"\n"
	"Ask a session in SQL (SQLite's). It only reads.\n"
	"\n"
	"  FILE@10s-1m      ask a part: the whole windows in it; also @1.5s-, @-500ms,\n"
	"                   @10-20 (seconds)\n"
	"  --list           list views and tables with their columns, what one row is,\n"
	"                   and what fills those that are empty; also with --json\n"
	"  --csv            print CSV, with a line of names\n"
	"  --json           print JSON: an array of objects\n"
	"  --limit-rows N   print N rows at most (default 1000; with --csv and --json\n"
	"                   1000000)\n"
	"  --timeout TIME   end the query after TIME (default 60s)\n"
	"  -v, --verbose    print more to stderr\n"
	"  -q, --quiet      print errors only to stderr\n"
	"  -h, --help       print this text\n"
	"\n"
	"Exit status: 0 ok, 64 wrong usage, 1 failed. It needs no privilege.\n"
	"\n"
	"Examples:\n"
	"  dwell query --list server.dwell\n"
	"  dwell query server.dwell 'SELECT * FROM ledger_by_service LIMIT 10'\n"
	"  dwell query --csv server.dwell@10s-20s 'SELECT * FROM states_over_time'\n";

struct options {
	struct session_part part;
	struct query_print print;
	struct sql_limits limits;
	const char *sql;
	char *path; /* without FROM-TO; ours */
	bool list, help;
};

static const struct option longs[] = {
	{"list", no_argument, NULL, 'l'},
	{"csv", no_argument, NULL, 'c'},
	{"json", no_argument, NULL, 'j'},
	{"limit-rows", required_argument, NULL, 'n'},
	{"timeout", required_argument, NULL, 't'},
	{"verbose", no_argument, NULL, 'v'},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{0},
};

static int parse_option(int option, struct options *options)
{
	switch (option) {
	case 'l':
		options->list = true;
		return 0;
	case 'c':
		options->print.format = QUERY_CSV;
		return 0;
	case 'j':
		options->print.format = QUERY_JSON;
		return 0;
	case 'n':
		if (!text_parse_u64(optarg, 1, ROWS_MAX, &options->limits.rows))
			return 0;
		log_error("--limit-rows takes a number from 1 to %d, not '%s'", ROWS_MAX, optarg);
		return -EINVAL;
	case 't':
		if (!text_parse_seconds(optarg, NS_PER_MS, TIME_LIMIT_MAX_S * NS_PER_S,
					&options->limits.time_ns))
			return 0;
		log_error("--timeout takes a time from 1ms to %ds: seconds, or " TEXT_TIME_FORMS
			  ", not '%s'",
			  TIME_LIMIT_MAX_S, optarg);
		return -EINVAL;
	case 'h':
		options->help = true;
		return 0;
	}
	return cmd_common_option(option) ? 0 : -EINVAL;
}

static int parse(int argc, char **argv, struct options *options)
{
	struct session_options session = {.part = &options->part, .path = &options->path};
	int option, left;

	while ((option = getopt_long(argc, argv, "hvq", longs, NULL)) != -1)
		if (parse_option(option, options))
			return -EINVAL;
	if (options->help)
		return 0;
	left = argc - optind;
	if (left == 1 && !options->list) {
		log_error("query needs a SELECT after the session; 'dwell query --list %s' lists "
			  "what there is",
			  argv[optind]);
		return -EINVAL;
	}
	if (left > (options->list ? 1 : 2)) {
		log_error("query takes a session%s, but got '%s' too%s",
			  options->list ? "" : " and one SELECT",
			  argv[optind + (options->list ? 1 : 2)],
			  options->list ? "" : ": put the SELECT in quotes");
		return -EINVAL;
	}
	options->sql = left == 2 ? argv[optind + 1] : NULL;
	if (!options->limits.rows)
		options->limits.rows =
			options->print.format == QUERY_TABLE ? TABLE_ROWS : PROGRAM_ROWS;
	return session_argument(options->sql ? argc - 1 : argc, argv, "query",
				"dwell query FILE.dwell 'SELECT * FROM ledger_by_state'", &session);
}

struct reading {
	struct options *options;
	int db_fd, wal_fd;
};

static void tell_limits(const struct options *options, const struct sql_reading *answer)
{
	const struct query_print *print = &options->print;

	if (answer->is_cut)
		log_info("there are more than %" PRIu64 " rows: ask for more with --limit-rows",
			 (uint64_t)answer->rows);
	if (print->left_out)
		log_info("%" PRIu64 " rows are left out, as a table has up to %d MiB: use --csv or "
			 "--json",
			 (uint64_t)print->left_out, QUERY_KEPT_BYTES >> 20);
	if (print->cut)
		log_info("%" PRIu64 " texts were cut, at %d bytes", (uint64_t)print->cut,
			 print->format == QUERY_TABLE ? QUERY_TABLE_BYTES : QUERY_CELL_BYTES);
}

static int ask(sqlite3 *db, struct options *options)
{
	struct query_print *print = &options->print;
	struct sql_reading answer;
	char hint[256];
	int err;

	snprintf(hint, sizeof(hint), "'dwell query --list %.200s' lists tables, views and columns",
		 options->path);
	err = sql_run(db, options->sql, &options->limits, hint, query_print_columns,
		      query_print_row, print, &answer);
	if (!err)
		err = query_print_end(print);
	if (!err)
		tell_limits(options, &answer);
	query_print_free(print);
	return err;
}

static int query_session(const void *context)
{
	const struct reading *reading = context;
	struct options *options = reading->options;
	struct session *session;
	struct windows windows;
	int err = session_open_fds(reading->db_fd, reading->wal_fd, options->path, &session), code;

	if (err)
		return EXIT_FAILED;
	err = windows_of_part(session_db(session), &options->part, &windows);
	code = err ? 0 : views_make(session_db(session), &windows);
	if (!err && !code && options->list)
		code = query_list(session_db(session), options->print.format == QUERY_JSON,
				  options->print.columns ? options->print.columns : LIST_COLUMNS,
				  stdout);
	else if (!err && !code)
		err = ask(session_db(session), options);
	if (code) {
		log_error("cannot read the tables of %s: %s; %s", options->path,
			  sqlite3_errstr(code),
			  code == SQLITE_NOMEM ? "free some memory" : "is the file damaged?");
		err = -EIO;
	}
	session_close(session);
	return err ? EXIT_FAILED : EXIT_OK;
}

static int run(struct options *options)
{
	_cleanup_close_ int db_fd = -1, wal_fd = -1;

	if (session_open_files(options->path, &db_fd, &wal_fd))
		return EXIT_FAILED;
	return reader_process_run(query_session, &(struct reading){options, db_fd, wal_fd}, db_fd,
				  wal_fd, NULL);
}

int cmd_query(int argc, char **argv)
{
	struct options options = {.print = {.out = stdout},
				  .limits = {.time_ns = TIME_LIMIT_S * NS_PER_S}};
	bool is_whole;
	int status;

	if (parse(argc, argv, &options)) {
		fputs("Try 'dwell query --help'.\n", stderr);
		free(options.path);
		return EXIT_USAGE;
	}
	if (options.help) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	options.print.columns = cmd_columns(&is_whole);
	status = run(&options);
	free(options.path);
	return status;
}
