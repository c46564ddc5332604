// SPDX-License-Identifier: Apache-2.0
/* The worker's side of a session: it writes what commands and signals send. */
#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../base/clock.h"
#include "../model/signal.h"
#include "../store/vfs.h"
#include "../store/writer.h"
#include "../symbolize/symbolize.h"
#include "session.h"

#define LAST_NAMES_NS (50 * NS_PER_MS) /* a file that ends waits so long for names, not longer */

/* Rows on their way to the writer; objects that they refer to are to be in the same file. */
struct referring_sink {
	struct sink sink; /* first: the sink is this */
	struct sink *writer;
	void *const *states;
};

static void add_row(struct sink *sink, const struct table *table, const struct cell *cells)
{
	const struct referring_sink *self = (const struct referring_sink *)sink;

	for (size_t i = 0; table->object_columns >> i; i++)
		if (table->object_columns >> i & 1 && cells[i].kind == CELL_NUMBER &&
		    cells[i].number && self->states[SIG_OBJECT])
			signal_object.refer(self->states[SIG_OBJECT], (u64)cells[i].number);
	self->writer->add(self->writer, table, cells);
}

static struct referring_sink sink_of(const struct session_inside *session, void *const states[])
{
	return (struct referring_sink){{add_row}, writer_sink(session->file.writer), states};
}

static void keep(int *place, int *fd)
{
	if (*place > 0)
		close(*place);
	*place = *fd;
	*fd = -1;
}

static int close_file(struct session_file *file)
{
	int err = writer_close(file->writer);

	if (file->db_fd > 0)
		close(file->db_fd);
	if (file->wal_fd > 0)
		close(file->wal_fd);
	*file = (struct session_file){0};
	return err;
}

/* The one that is opened: the first, or the one after it. */
static struct session_file *coming_file(struct session_inside *session)
{
	return session->file.writer ? &session->next : &session->file;
}

/* For good: who has no privilege cannot raise it again. */
static int bound_files(u64 bytes_max)
{
	struct rlimit limit;

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

void session_inside_prepare(void)
{
	/* The worker has one thread, and nobody asks how much memory SQLite uses. */
	sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	vfs_prepare();
}

static int open_session(struct session_inside *session, int *fd,
			const struct session_begin *request, bool is_there)
{
	struct session_file *file = coming_file(session);
	int err;

	if (file->writer || *fd < 0 || file->wal_fd <= 0)
		return -EINVAL;
	err = bound_files(request->bytes_max);
	if (err)
		return err;
	signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error like another */
	keep(&file->db_fd, fd);
	err = is_there ? writer_resume(file->db_fd, file->wal_fd, &file->writer)
		       : writer_open(file->db_fd, file->wal_fd, &file->writer);
	if (err)
		close_file(file);
	return err;
}

/* --- one that another process has begun --- */

static bool take_extent(void *context, const struct cell *cells)
{
	struct session_extent *extent = context;

	if (cells[0].kind != CELL_NUMBER || cells[1].kind != CELL_NUMBER)
		return false;
	*extent = (struct session_extent){(u64)cells[0].number + 1, (u64)cells[1].number, false};
	return false;
}

static ssize_t resume_session(struct session_inside *session, int *fd,
			      const struct session_begin *request,
			      struct session_extent *ret_extent, void *const states[])
{
	int err = session->file.writer ? -EINVAL : open_session(session, fd, request, true);
	struct resumed resumed = {.is_first_file = request->is_first_file,
				  .begin_ns = request->begin_ns};

	*ret_extent = (struct session_extent){request->window, request->begin_ns, true};
	if (err)
		return err;
	session->is_held = true;
	resumed.source = writer_source(session->file.writer);
	err = resumed.source->each(resumed.source, "id, end_ns", 2, "windows ORDER BY id DESC",
				   take_extent, ret_extent);
	if (err) {
		close_file(&session->file);
		return err;
	}
	resumed.next_window = ret_extent->next_window;
	resumed.end_ns = ret_extent->end_ns;
	symbolize_number_above(session->symbolize,
			       (u32)source_highest(resumed.source, "id", "modules"));
	for (int id = 0; id < SIGNAL_LIMIT; id++)
		if (states[id] && signal_rows[id].signal->resume)
			signal_rows[id].signal->resume(states[id], &resumed);
	return sizeof(*ret_extent);
}

/* What a signal had no room for in the last window; when all is closed it may be more. */
static void write_losses(struct session_inside *session, int id, const void *state,
			 struct sink *sink)
{
	const struct signal *signal = signal_rows[id].signal;

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

enum moment { AT_WINDOW, AT_RENEWAL, AT_CLOSE };

static void write_signal(struct session_inside *session, int id, enum moment moment,
			 u64 next_window, void *state, struct sink *sink)
{
	const struct signal *signal = signal_rows[id].signal;

	if (moment == AT_WINDOW && signal->flush)
		signal->flush(state, session->window, sink);
	if (moment == AT_RENEWAL && signal->renew)
		signal->renew(state, next_window, sink);
	if (moment == AT_CLOSE && signal->close)
		signal->close(state, sink);
	/* What others wrote just now may refer to more. */
	if (moment == AT_CLOSE && signal->defines)
		signal->flush(state, session->window, sink);
	if (state)
		write_losses(session, id, state, sink);
}

/* Those that define what the others refer to come last. */
static void write_signals(struct session_inside *session, enum moment moment, u64 next_window,
			  void *const states[])
{
	struct referring_sink sink = sink_of(session, states);

	for (int defines = 0; defines <= 1; defines++)
		for (int id = 0; id < SIGNAL_LIMIT; id++)
			if (signal_rows[id].signal && signal_rows[id].signal->defines == defines)
				write_signal(session, id, moment, next_window, states[id],
					     &sink.sink);
}

static int end_window(struct session_inside *session, const struct window_request *request,
		      void *const states[])
{
	struct sink *sink = writer_sink(session->file.writer);
	const struct cell cells[] = {cell_number(request->window), cell_number(request->begin_ns),
				     cell_number(request->end_ns)};

	session->window = request->window;
	memcpy(session->begun_losses, session->told_losses, sizeof(session->begun_losses));
	write_signals(session, AT_WINDOW, 0, states);
	sink->add(sink, &store_tables[TABLE_WINDOWS], cells);
	if (request->ends_file)
		symbolize_wait_for_names(session->symbolize, clock_now_ns() + LAST_NAMES_NS);
	/* At once: a record that came in between would be in neither file. */
	if (request->ends_file)
		write_signals(session, AT_RENEWAL, request->window + 1, states);
	return writer_commit(session->file.writer);
}

static int rotate(struct session_inside *session)
{
	if (!session->next.writer || session->old.writer)
		return -EINVAL;
	session->old = session->file;
	session->file = session->next;
	session->next = (struct session_file){0};
	return 0;
}

static int close_session(struct session_inside *session, void *const states[])
{
	write_signals(session, AT_CLOSE, 0, states);
	if (session->next.writer)
		close_file(&session->next); /* it has nothing, and is removed */
	/* Of the last file alone: while others are closed, records come in. */
	writer_total(session->file.writer);
	return close_file(&session->file);
}

static ssize_t run_open(struct session_inside *session, enum session_job job, int *fd,
			const void *request, size_t size, void *reply, void *const states[])
{
	struct session_begin begin;

	if (size != sizeof(begin))
		return -EBADMSG;
	memcpy(&begin, request, sizeof(begin));
	return job == SESSION_OPEN ? open_session(session, fd, &begin, false)
				   : resume_session(session, fd, &begin, reply, states);
}

ssize_t session_inside_run(struct session_inside *session, enum session_job job, int *fd,
			   const void *request, size_t size, void *reply, void *const states[])
{
	struct window_request window;

	if (job == SESSION_WAL) {
		if (*fd < 0 || coming_file(session)->writer)
			return -EINVAL;
		keep(&coming_file(session)->wal_fd, fd);
		return 0;
	}
	if (job == SESSION_OPEN || job == SESSION_RESUME)
		return run_open(session, job, fd, request, size, reply, states);
	if (!session->file.writer)
		return -ENOTCONN;
	switch (job) {
	case SESSION_CONTINUE:
		session->is_held = false;
		return 0;
	case SESSION_ROWS:
		return rows_read(request, size, writer_sink(session->file.writer));
	case SESSION_WINDOW:
		if (size != sizeof(window))
			return -EBADMSG;
		memcpy(&window, request, sizeof(window));
		return end_window(session, &window, states);
	case SESSION_ROTATE:
		return rotate(session);
	case SESSION_FINISH:
		return session->old.writer ? close_file(&session->old) : -EINVAL;
	case SESSION_CLOSE:
		return close_session(session, states);
	default:
		return -ENOSYS;
	}
}
