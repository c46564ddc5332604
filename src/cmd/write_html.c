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

/* One of the page's sessions. */
struct side {
	const char *path;
	struct report_options options;
	int db_fd, wal_fd;
	struct page_session page; /* but the database */
};

static int open_files(struct side *side)
{
	return session_open_files(side->path, &side->db_fd, &side->wal_fd);
}

static void close_files(const struct side *side)
{
	if (side->db_fd >= 0)
		close(side->db_fd);
	if (side->wal_fd >= 0)
		close(side->wal_fd);
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int write_inside(const void *context)
{
	const struct side *side = context;
	struct page_session page = side->page;
	struct session *session;
	int err = session_open_fds(side->db_fd, side->wal_fd, side->path, &session);

	if (err)
		return EXIT_FAILED;
	page.db = session_db(session);
	page.options = &side->options;
	page.file = name_of(side->path);
	err = html_page_write(&page, stdout);
	session_close(session);
	return err ? EXIT_FAILED : EXIT_OK;
}

static int write_session(struct side *side)
{
	return reader_process_run(write_inside, side, side->db_fd, side->wal_fd,
				  &side->options.debuginfod);
}

/* Names mean the same in another session; ids and times do not. */
static struct report_options for_baseline(const struct html_page *page)
{
	struct report_options options = *page->options;

	options.part.pid_count = options.part.tid_count = 0;
	options.part.from_ns = page->baseline_from_ns;
	options.part.to_ns = page->baseline_to_ns;
	return options;
}

/* EXIT_OVER is a page too: what opened it says that a limit was exceeded. */
static bool is_page(int status)
{
	return status == EXIT_OK || status == EXIT_OVER;
}

static int write_sides(const struct html_page *page, struct side *session, struct side *baseline)
{
	int opened = page->open ? page->open(page->context) : EXIT_OK, status;

	if (!is_page(opened))
		return opened;
	status = write_session(session);
	if (status == EXIT_OK && baseline->path) {
		status = write_session(baseline);
		if (status != EXIT_OK)
			log_error("no page was written: its baseline %s cannot be shown",
				  baseline->path);
	}
	return status == EXIT_OK ? opened : status;
}

static int write_file(const struct html_page *page, struct side *session, struct side *baseline)
{
	_cleanup_free_ char *temporary = NULL;
	int status, closed;

	if (strcmp(page->file, "-") != 0 && output_file_open(page->file, &temporary))
		return EXIT_FAILED;
	status = write_sides(page, session, baseline);
	if (!temporary)
		return status;
	closed = output_file_close(temporary, page->file, is_page(status) ? EXIT_OK : status);
	return closed == EXIT_OK ? status : closed;
}

int write_html(const struct html_page *page)
{
	struct side session = {.path = page->session,
			       .options = *page->options,
			       .db_fd = -1,
			       .wal_fd = -1,
			       .page = {.opens = !page->open, .closes = !page->baseline}};
	struct side baseline = {.path = page->baseline,
				.options = for_baseline(page),
				.db_fd = -1,
				.wal_fd = -1,
				.page = {.is_baseline = true, .closes = true}};
	int status = EXIT_FAILED;

	if (!page_is_built_in()) {
		log_error("this dwell was built without the page of --html: build it where npm is "
			  "installed (make), or from a release's tarball, which has the page");
		return EXIT_UNSUPPORTED;
	}
	if (!strcmp(page->file, "-") && isatty(STDOUT_FILENO)) {
		log_error("the page is no text for a terminal, and stdout is one: name a file with "
			  "--html FILE");
		return EXIT_USAGE;
	}
	if (!open_files(&session) && (!baseline.path || !open_files(&baseline)))
		status = write_file(page, &session, &baseline);
	close_files(&session);
	close_files(&baseline);
	return status;
}
