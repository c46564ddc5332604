// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../model/signal.h"
#include "../store/writer.h"

#define SESSION_TIMEOUT_MS 30000 /* a slow disk is no reason to kill the worker */

/* What comes with SESSION_WINDOW. */
struct window_request {
	u64 window;
	u64 begin_ns;
	u64 end_ns;
};

static int call(struct worker *worker, enum session_job job, int fd, const void *request,
		size_t size)
{
	ssize_t got = worker_call_within(worker, SESSION_JOB_FIRST + job, fd, request, size, NULL,
					 0, SESSION_TIMEOUT_MS);

	return got < 0 ? (int)got : 0;
}

int worker_session_open(struct worker *worker, int db_fd, int wal_fd, u64 bytes_max)
{
	int err = call(worker, SESSION_WAL, wal_fd, NULL, 0);

	return err ? err : call(worker, SESSION_OPEN, db_fd, &bytes_max, sizeof(bytes_max));
}

int worker_session_rows(struct worker *worker, const struct rows *rows)
{
	return rows->size ? call(worker, SESSION_ROWS, -1, rows->bytes, rows->size) : 0;
}

int worker_session_window(struct worker *worker, u64 window, u64 begin_ns, u64 end_ns)
{
	const struct window_request request = {window, begin_ns, end_ns};

	return call(worker, SESSION_WINDOW, -1, &request, sizeof(request));
}

int worker_session_close(struct worker *worker)
{
	return call(worker, SESSION_CLOSE, -1, NULL, 0);
}

/* --- inside the worker --- */

static void keep(int *place, int *fd)
{
	if (*place > 0)
		close(*place);
	*place = *fd;
	*fd = -1;
}

/* For good: who has no privilege cannot raise it again. */
static int bound_files(const void *request, size_t size)
{
	struct rlimit limit;
	u64 bytes_max;

	if (size != sizeof(bytes_max))
		return -EBADMSG;
	memcpy(&bytes_max, request, sizeof(bytes_max));
	if (!bytes_max)
		return 0;
	if (getrlimit(RLIMIT_FSIZE, &limit))
		return -errno;
	if (limit.rlim_max > bytes_max)
		limit.rlim_max = bytes_max;
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_FSIZE, &limit) ? -errno : 0;
}

static int open_session(struct session_inside *session, int *fd, const void *request, size_t size)
{
	int err;

	if (session->writer || *fd < 0 || session->wal_fd <= 0)
		return -EINVAL;
	err = bound_files(request, size);
	if (err)
		return err;
	signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error like another */
	/* The worker has one thread, and nobody asks how much memory SQLite uses. */
	sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	keep(&session->db_fd, fd);
	return writer_open(session->db_fd, session->wal_fd, &session->writer);
}

/* What a signal had no room for in the last window; when all is closed it may be more. */
static void write_losses(struct session_inside *session, int id, const void *state)
{
	const struct signal *signal = signal_rows[id].signal;
	struct sink *sink = writer_sink(session->writer);

	for (size_t i = 0; i < signal->loss_count && i < SIGNAL_LOSSES_MAX; i++) {
		const struct signal_loss *loss = &signal->losses[i];
		u64 *told = &session->told_losses[id][i], now;

		memcpy(&now, (const char *)state + loss->offset, sizeof(now));
		const struct cell cells[] = {
			cell_number(session->window),
			cell_text(loss->name, strlen(loss->name)),
			cell_number(now - session->begun_losses[id][i]),
		};

		if (now != *told)
			sink->add(sink, &store_tables[TABLE_LOSSES], cells);
		*told = now;
	}
}

static int end_window(struct session_inside *session, const struct window_request *request,
		      void *const states[])
{
	struct sink *sink = writer_sink(session->writer);
	const struct cell cells[] = {cell_number(request->window), cell_number(request->begin_ns),
				     cell_number(request->end_ns)};

	session->window = request->window;
	memcpy(session->begun_losses, session->told_losses, sizeof(session->begun_losses));
	for (int id = 0; id < SIGNAL_LIMIT; id++) {
		const struct signal *signal = signal_rows[id].signal;

		if (signal && signal->flush)
			signal->flush(states[id], request->window, sink);
		if (signal && states[id])
			write_losses(session, id, states[id]);
	}
	sink->add(sink, &store_tables[TABLE_WINDOWS], cells);
	return writer_commit(session->writer);
}

static int close_session(struct session_inside *session, void *const states[])
{
	struct sink *sink = writer_sink(session->writer);
	int err;

	for (int id = 0; id < SIGNAL_LIMIT; id++) {
		const struct signal *signal = signal_rows[id].signal;

		if (signal && signal->close)
			signal->close(states[id], sink);
		if (signal && states[id])
			write_losses(session, id, states[id]);
	}
	err = writer_close(session->writer);
	session->writer = NULL;
	close(session->db_fd);
	close(session->wal_fd);
	session->db_fd = session->wal_fd = 0;
	return err;
}

int session_inside_run(struct session_inside *session, enum session_job job, int *fd,
		       const void *request, size_t size, void *const states[])
{
	struct window_request window;

	if (job == SESSION_WAL) {
		if (*fd < 0 || session->writer)
			return -EINVAL;
		keep(&session->wal_fd, fd);
		return 0;
	}
	if (job == SESSION_OPEN)
		return open_session(session, fd, request, size);
	if (!session->writer)
		return -ENOTCONN;
	switch (job) {
	case SESSION_ROWS:
		return rows_read(request, size, writer_sink(session->writer));
	case SESSION_WINDOW:
		if (size != sizeof(window))
			return -EBADMSG;
		memcpy(&window, request, sizeof(window));
		return end_window(session, &window, states);
	case SESSION_CLOSE:
		return close_session(session, states);
	default:
		return -ENOSYS;
	}
}
