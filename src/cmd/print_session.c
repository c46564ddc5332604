// SPDX-License-Identifier: Apache-2.0
#include "print_session.h"

#include <errno.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../store/reader.h"
#include "reader_process.h"
#include "cmd.h"

/* What the child needs: it was opened as whoever we are, and is read as nobody. */
struct reading {
	const struct report_options *options;
	const char *name;
	int db_fd, wal_fd;
	FILE *out;
};

static int read_and_print(const void *context)
{
	const struct reading *reading = context;
	struct session *session;
	int err = session_open_fds(reading->db_fd, reading->wal_fd, reading->name, &session);

	if (err)
		return EXIT_FAILED;
	err = report_print(session_db(session), reading->options, reading->out);
	session_close(session);
	return err ? EXIT_FAILED : EXIT_OK;
}

int print_session(struct report_options *options, const char *name, int db_fd, int wal_fd,
		  FILE *out)
{
	const struct reading reading = {options, name, db_fd, wal_fd, out};

	return reader_process_run(read_and_print, &reading, db_fd, wal_fd, &options->debuginfod);
}

int print_result(struct report_options *options, const struct engine_result *result, FILE *out)
{
	_cleanup_close_ int db_fd = -1, wal_fd = -1;
	int err = files_reopen(&result->files, result->files_end, &db_fd, &wal_fd);

	if (!err)
		return print_session(options, "the session", db_fd, wal_fd, out);
	log_error("cannot read the session again: %s%s", strerror(-err),
		  err == -ENOENT ? "; is /proc mounted?" : "");
	return EXIT_FAILED;
}
