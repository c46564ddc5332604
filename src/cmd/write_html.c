// SPDX-License-Identifier: Apache-2.0
#include "write_html.h"

#include <string.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../page/page.h"
#include "../store/reader.h"
#include "cmd.h"
#include "output_file.h"
#include "reader_process.h"

struct files {
	int db_fd, wal_fd;
};

struct reading {
	struct files files;
	const char *path;
	struct page_session page; /* but the database */
};

static int write_inside(const void *context)
{
	const struct reading *reading = context;
	struct page_session page = reading->page;
	struct session *session;
	int err = session_open_fds(reading->files.db_fd, reading->files.wal_fd, reading->path,
				   &session);

	if (err)
		return EXIT_FAILED;
	page.db = session_db(session);
	err = html_page_write(&page, stdout);
	session_close(session);
	return err ? EXIT_FAILED : EXIT_OK;
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int write_session(struct report_options *options, const struct files *files,
			 const char *path, bool is_baseline, bool is_last)
{
	const struct reading reading = {
		.files = *files,
		.path = path,
		.page = {.options = options,
			 .file = name_of(path),
			 .is_baseline = is_baseline,
			 .opens = !is_baseline,
			 .closes = is_last},
	};

	return reader_process_run(write_inside, &reading, files->db_fd, files->wal_fd,
				  &options->debuginfod);
}

/* Of the other session all is shown: times and ids mean something else there. */
static struct report_options for_baseline(const struct report_options *options)
{
	struct report_options all = *options;

	all.part = (struct session_part){.kernel = options->part.kernel};
	return all;
}

int write_html(const char *html, struct report_options *options, const char *session,
	       const char *baseline)
{
	struct report_options other = for_baseline(options);
	_cleanup_close_ int db_fd = -1, wal_fd = -1, other_db_fd = -1, other_wal_fd = -1;
	_cleanup_free_ char *temporary = NULL;
	int status;

	if (!page_is_built_in()) {
		log_error("this dwell was built without the page of --html: build it where npm is "
			  "installed (make), or from a release's tarball, which has the page");
		return EXIT_UNSUPPORTED;
	}
	if (!strcmp(html, "-") && isatty(STDOUT_FILENO)) {
		log_error("the page is no text for a terminal, and stdout is one: name a file with "
			  "--html FILE");
		return EXIT_USAGE;
	}
	if (session_open_files(session, &db_fd, &wal_fd) ||
	    (baseline && session_open_files(baseline, &other_db_fd, &other_wal_fd)))
		return EXIT_FAILED;
	if (strcmp(html, "-") != 0 && output_file_open(html, &temporary))
		return EXIT_FAILED;
	status = write_session(options, &(struct files){db_fd, wal_fd}, session, false, !baseline);
	if (status == EXIT_OK && baseline)
		status = write_session(&other, &(struct files){other_db_fd, other_wal_fd}, baseline,
				       true, true);
	return temporary ? output_file_close(temporary, html, status) : status;
}
