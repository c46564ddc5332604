// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include <errno.h>

#include "cgroup_paths.h"

#define SESSION_TIMEOUT_MS 30000 /* a slow disk is no reason to kill the worker */

static int call(struct worker *worker, enum session_job job, int fd, const void *request,
		size_t size)
{
	ssize_t got = worker_call_within(worker, SESSION_JOB_FIRST + job, fd, request, size, NULL,
					 0, SESSION_TIMEOUT_MS);

	return got < 0 ? (int)got : 0;
}

int worker_session_open(struct worker *worker, int db_fd, int wal_fd, u64 bytes_max)
{
	const struct session_begin request = {.bytes_max = bytes_max};
	int err = call(worker, SESSION_WAL, wal_fd, NULL, 0);

	return err ? err : call(worker, SESSION_OPEN, db_fd, &request, sizeof(request));
}

int worker_session_resume(struct worker *worker, int db_fd, int wal_fd,
			  const struct session_begin *begin, struct session_extent *ret_extent)
{
	ssize_t got = call(worker, SESSION_WAL, wal_fd, NULL, 0);

	if (!got)
		got = worker_call_within(worker, SESSION_JOB_FIRST + SESSION_RESUME, db_fd, begin,
					 sizeof(*begin), ret_extent, sizeof(*ret_extent),
					 SESSION_TIMEOUT_MS);
	if (got < 0)
		return (int)got;
	return got == sizeof(*ret_extent) ? 0 : -EBADMSG;
}

int worker_session_continue(struct worker *worker)
{
	return call(worker, SESSION_CONTINUE, -1, NULL, 0);
}

int worker_session_rows(struct worker *worker, const struct rows *rows)
{
	return rows->size ? call(worker, SESSION_ROWS, -1, rows->bytes, rows->size) : 0;
}

int worker_session_window(struct worker *worker, u64 window, u64 begin_ns, u64 end_ns,
			  bool ends_file)
{
	const struct window_request request = {window, begin_ns, end_ns, ends_file};
	int err = worker_find_cgroups(worker);

	return err ? err : call(worker, SESSION_WINDOW, -1, &request, sizeof(request));
}

int worker_session_close(struct worker *worker)
{
	return call(worker, SESSION_CLOSE, -1, NULL, 0);
}

int worker_session_rotate(struct worker *worker)
{
	return call(worker, SESSION_ROTATE, -1, NULL, 0);
}

int worker_session_finish(struct worker *worker)
{
	return call(worker, SESSION_FINISH, -1, NULL, 0);
}
