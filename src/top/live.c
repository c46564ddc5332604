// SPDX-License-Identifier: Apache-2.0
#include "live.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../model/resolver.h"
#include "../store/query.h"

/* A window has some thousand rows; a file is new every half minute. More is left for the next. */
#define ROWS_AT_ONCE 500000

#define FRAMES_MAX   256 /* of a stack that are looked at ... */
#define FRAMES_SHOWN 16	 /* ... and shown */

void live_init(struct live *live)
{
	*live = (struct live){.db_fd = -1, .wal_fd = -1};
	hash_init(&live->stacks, sizeof(struct live_stack), 3 * sizeof(u64), LIVE_STACKS_MAX);
}

static void close_session(struct live *live)
{
	session_close(live->session);
	live->session = NULL;
	if (live->db_fd >= 0)
		close(live->db_fd);
	if (live->wal_fd >= 0)
		close(live->wal_fd);
	live->db_fd = live->wal_fd = -1;
}

void live_close(struct live *live)
{
	close_session(live);
	hash_free(&live->stacks);
}

/* --- statements --- */

struct pass {
	struct live *live;
	struct model *model;
	s64 window;	  /* the newest that is complete */
	int code;	  /* of SQLite, where not all could be read */
	s64 shown_window; /* the newest before it that was read; -1: none */
};

typedef void row_fn(struct pass *pass, sqlite3_stmt *row);

/* Each row after the one that was read last; the first column is its number. */
static void each_new(struct pass *pass, const char *sql, s64 *last_row, row_fn *on_row)
{
	sqlite3_stmt *statement = NULL;
	u64 rows = 0;
	int code = sqlite3_prepare_v2(session_db(pass->live->session), sql, -1, &statement, NULL);

	if (!code)
		code = sqlite3_bind_int64(statement, 1, *last_row);
	while (!code && rows++ < ROWS_AT_ONCE && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		*last_row = sqlite3_column_int64(statement, 0);
		on_row(pass, statement);
		code = SQLITE_OK;
	}
	if (code && code != SQLITE_DONE)
		pass->code = code;
	sqlite3_finalize(statement);
}

/* One row by a number: the first column's text, or "". */
static void look_up(const struct live *live, const char *sql, s64 key, char *to, size_t size)
{
	sqlite3_stmt *statement = NULL;

	to[0] = '\0';
	if (!live->session ||
	    sqlite3_prepare_v2(session_db(live->session), sql, -1, &statement, NULL))
		return;
	sqlite3_bind_int64(statement, 1, key);
	if (sqlite3_step(statement) == SQLITE_ROW)
		query_text(statement, 0, to, size);
	sqlite3_finalize(statement);
}

/* --- a window --- */

static void on_ledger(struct pass *pass, sqlite3_stmt *row)
{
	const struct model_cause cause = {
		.thread = query_u64(row, 2),
		.state = (u8)query_u64(row, 3),
		.call = (u16)query_u64(row, 4),
		.object = query_u64(row, 5),
		.holder = (u32)query_u64(row, 6),
		.waker = (u32)query_u64(row, 7),
		.waker_kind = (u8)query_u64(row, 8),
		.ns = sqlite3_column_int64(row, 9),
		.count = sqlite3_column_int64(row, 10),
	};

	s64 window = sqlite3_column_int64(row, 1);
	bool is_end = !query_is_null(row, 11);

	/* What corrects earlier windows was shown by its provisional name. */
	if (window == pass->window)
		model_add(pass->model, &cause, is_end);
	else if (window > pass->shown_window && is_end)
		model_add_missed(pass->model, &cause, (u64)window);
}

static void on_process(struct pass *pass, sqlite3_stmt *row)
{
	const u64 key[] = {query_count(row, 1), query_count(row, 2)};
	struct model_process *process = hash_add(&pass->model->processes, key);

	if (!process) {
		pass->model->not_kept++;
		return;
	}
	query_text(row, 3, process->comm, sizeof(process->comm));
	query_text(row, 4, process->service, sizeof(process->service));
	process->is_kernel = query_count(row, 5);
	process->has_ended = !query_is_null(row, 6);
}

static void on_loss(struct pass *pass, sqlite3_stmt *row)
{
	pass->model->host.lost += query_count(row, 1);
}

static void on_cpu(struct pass *pass, sqlite3_stmt *row)
{
	struct model_host *host = &pass->model->host;
	u64 ns = query_count(row, 3);

	if (sqlite3_column_int64(row, 1) != pass->window)
		return;
	host->cpu_ns += ns;
	host->busy_ns += query_u64(row, 2) == CPU_USE_IDLE ? 0 : ns;
}

static void on_queue(struct pass *pass, sqlite3_stmt *row)
{
	if (sqlite3_column_int64(row, 1) != pass->window)
		return;
	pass->model->host.queue_ns += query_count(row, 2);
	pass->model->host.cpus++;
}

static void on_overhead(struct pass *pass, sqlite3_stmt *row)
{
	struct model_host *host = &pass->model->host;

	host->own_ns = query_count(row, 1);
	if (!query_is_null(row, 2)) {
		host->bpf_ns = query_count(row, 2);
		host->has_bpf = true;
	}
}

/* Who moved may be new, have another name or have ended: the others are as they were. */
static void read_threads(struct pass *pass)
{
	static const char sql[] = "SELECT pid, process_start_ns, tid, comm, is_kernel, is_dead, "
				  "threads, begin_ns FROM threads WHERE id = ?1";
	struct model *model = pass->model;
	sqlite3_stmt *statement = NULL;

	pass->code = sqlite3_prepare_v2(session_db(pass->live->session), sql, -1, &statement, NULL);
	if (pass->code)
		return;
	for (size_t i = 0; i < model->threads.count; i++) {
		struct model_thread *thread = hash_item(&model->threads, i);

		if (thread->is_told && thread->window <= (u64)(pass->shown_window + 1))
			continue;
		sqlite3_reset(statement);
		sqlite3_bind_int64(statement, 1, (s64)thread->id);
		if (sqlite3_step(statement) != SQLITE_ROW)
			continue;
		thread->is_told = true;
		thread->pid = (u32)query_count(statement, 0);
		thread->process_start_ns = query_count(statement, 1);
		thread->tid = (u32)query_count(statement, 2);
		query_text(statement, 3, thread->comm, sizeof(thread->comm));
		thread->is_kernel = query_count(statement, 4);
		thread->is_dead = query_count(statement, 5);
		thread->threads = query_count(statement, 6);
		thread->is_sum = !query_count(statement, 7);
	}
	sqlite3_finalize(statement);
}

/* --- stacks --- */

static bool is_subjects(const struct pass *pass, u32 pid, u64 start_ns, u32 tid)
{
	const struct rows_subject *subject = &pass->live->subject;
	const struct model_process *process;
	const struct model_thread *thread;

	if (subject->thread) {
		thread = model_thread(pass->model, subject->thread);
		return thread && thread->pid == pid && thread->tid == tid;
	}
	if (subject->pid)
		return subject->pid == pid && subject->process_start_ns == start_ns;
	process = model_process(pass->model, pid, start_ns);
	return process && !strcmp(subject->service, model_service(process));
}

static void on_sample(struct pass *pass, sqlite3_stmt *row)
{
	const u64 key[] = {query_u64(row, 6), query_u64(row, 4), query_u64(row, 5)};
	struct live_stack *stack;

	if (!is_subjects(pass, (u32)query_count(row, 1), query_count(row, 2),
			 (u32)query_count(row, 3)))
		return;
	stack = hash_add(&pass->live->stacks, key);
	if (!stack) {
		pass->model->not_kept++;
		return;
	}
	stack->weight_ns += query_count(row, 7);
	stack->count += query_count(row, 8);
	if (query_u64(row, 9))
		stack->waker_stack = query_u64(row, 9);
}

static void read_samples(struct pass *pass)
{
	struct live *live = pass->live;

	if (live->has_subject)
		each_new(pass,
			 "SELECT rowid, pid, process_start_ns, tid, kind, state, stack, weight_ns, "
			 "count, waker_stack FROM samples WHERE rowid > ?1",
			 &live->sample_row, on_sample);
}

void live_watch(struct live *live, const struct model *model, const struct rows_subject *subject)
{
	struct pass pass = {.live = live, .model = (struct model *)model};

	hash_clear(&live->stacks);
	live->has_subject = subject != NULL;
	if (!subject)
		return;
	live->subject = *subject;
	live->sample_row = 0;
	live->stacks_since_ns = live->file_begin_ns;
	if (live->session)
		read_samples(&pass);
}

/* --- the whole --- */

static int open_session(struct live *live, int db_fd, int wal_fd)
{
	struct stat st = {0};
	int err;

	close_session(live);
	live->db_fd = db_fd;
	live->wal_fd = wal_fd;
	fstat(db_fd, &st);
	/* Another file: its rows are counted anew. */
	if ((u64)st.st_ino != live->inode) {
		live->inode = (u64)st.st_ino;
		live->file_begin_ns = 0;
		live->ledger_row = live->process_row = live->loss_row = 0;
		live->cpu_row = live->queue_row = live->sample_row = 0;
	}
	err = session_open_live_fds(db_fd, wal_fd, "the session", &live->session);
	if (err)
		live->session = NULL;
	return err;
}

static void note_file(struct live *live)
{
	sqlite3_stmt *statement = NULL;

	if (sqlite3_prepare_v2(session_db(live->session),
			       "SELECT id, begin_ns FROM windows ORDER BY id LIMIT 1", -1,
			       &statement, NULL))
		return;
	if (sqlite3_step(statement) == SQLITE_ROW) {
		live->first_window = sqlite3_column_int64(statement, 0);
		live->file_begin_ns = query_count(statement, 1);
	}
	sqlite3_finalize(statement);
}

/* The newest window, unless it is known: its id, or -1. */
static s64 newest_window(struct live *live, struct model *model)
{
	sqlite3_stmt *statement = NULL;
	s64 window = -1;

	if (sqlite3_prepare_v2(session_db(live->session),
			       "SELECT id, begin_ns, end_ns FROM windows ORDER BY id DESC LIMIT 1",
			       -1, &statement, NULL))
		return -1;
	if (sqlite3_step(statement) == SQLITE_ROW) {
		window = sqlite3_column_int64(statement, 0);
		if (!live->file_begin_ns)
			note_file(live);
		if (window >= 0 && (u64)window + 1 > model->window)
			model_begin_window(model, (u64)window, query_count(statement, 1),
					   query_count(statement, 2));
		else
			window = -1;
	}
	sqlite3_finalize(statement);
	return window;
}

int live_read(struct live *live, int db_fd, int wal_fd, struct model *model)
{
	struct pass pass = {.live = live, .model = model};
	int err = open_session(live, db_fd, wal_fd);

	if (err)
		return err;
	pass.shown_window = (s64)model->window - 1;
	pass.window = newest_window(live, model);
	if (pass.window < 0)
		return 0;
	model->host.cpus = model->host.cpu_ns = model->host.busy_ns = model->host.queue_ns = 0;
	each_new(
		&pass,
		"SELECT rowid, window, thread, state, call, object, holder, waker, waker_kind, ns, "
		"count, end_ns FROM ledger WHERE rowid > ?1",
		&live->ledger_row, on_ledger);
	read_threads(&pass);
	each_new(&pass,
		 "SELECT rowid, pid, start_ns, comm, service, is_kernel, end_ns FROM processes "
		 "WHERE rowid "
		 "> ?1",
		 &live->process_row, on_process);
	model_end_window(model, (u64)live->first_window);
	each_new(&pass, "SELECT rowid, count FROM losses WHERE rowid > ?1", &live->loss_row,
		 on_loss);
	each_new(&pass, "SELECT rowid, window, use, ns FROM cpus WHERE rowid > ?1", &live->cpu_row,
		 on_cpu);
	each_new(&pass, "SELECT rowid, window, queue_ns FROM cpu_queues WHERE rowid > ?1",
		 &live->queue_row, on_queue);
	each_new(&pass, "SELECT window, user_cpu_ns, bpf_ns FROM overhead WHERE window >= ?1",
		 &(s64){pass.window}, on_overhead);
	read_samples(&pass);
	return pass.code ? -EIO : 0;
}

/* --- names --- */

void live_call_name(const struct live *live, u32 call, char ret_text[LIVE_TEXT_BYTES])
{
	ret_text[0] = '\0';
	if (call)
		look_up(live, "SELECT name FROM syscalls WHERE call = ?1", call, ret_text,
			LIVE_TEXT_BYTES);
}

void live_object_name(const struct live *live, u64 object, char ret_text[LIVE_TEXT_BYTES])
{
	ret_text[0] = '\0';
	if (object)
		look_up(live, "SELECT name FROM objects WHERE id = ?1", (s64)object, ret_text,
			LIVE_TEXT_BYTES);
	if (object && !ret_text[0])
		snprintf(ret_text, LIVE_TEXT_BYTES, "0x%llx", (unsigned long long)object);
}

/* The innermost frame's row of a stack, or that of its first frame of user code; 0: none. */
static u64 skip_kernel(sqlite3_stmt *statement, u64 stack)
{
	for (int i = 0; i < FRAMES_MAX && stack; i++) {
		u64 kind;

		sqlite3_reset(statement);
		sqlite3_bind_int64(statement, 1, (s64)stack);
		if (sqlite3_step(statement) != SQLITE_ROW)
			return 0;
		kind = query_u64(statement, 2);
		if (kind != MODULE_KERNEL && kind != MODULE_KERNEL_OTHER)
			return stack;
		stack = query_u64(statement, 0);
	}
	return 0;
}

void live_stack_text(const struct live *live, u64 stack, bool is_user_only, char *ret_text,
		     size_t size)
{
	static const char sql[] =
		"SELECT s.parent, coalesce(f.name, m.path || printf('+0x%x', f.address)), m.kind "
		"FROM stacks s LEFT JOIN frames f ON f.id = s.frame LEFT JOIN modules m ON m.id = "
		"f.module WHERE s.id = ?1";
	sqlite3_stmt *statement = NULL;
	size_t length = 0;
	u64 user;

	ret_text[0] = '\0';
	if (!stack || !live->session ||
	    sqlite3_prepare_v2(session_db(live->session), sql, -1, &statement, NULL))
		return;
	user = is_user_only ? skip_kernel(statement, stack) : 0;
	stack = user ? user : stack;
	for (int i = 0; i < FRAMES_SHOWN && stack; i++) {
		char name[LIVE_TEXT_BYTES];
		const char *base;

		sqlite3_reset(statement);
		sqlite3_bind_int64(statement, 1, (s64)stack);
		if (sqlite3_step(statement) != SQLITE_ROW)
			break;
		stack = query_u64(statement, 0);
		query_text(statement, 1, name, sizeof(name));
		base = name[0] == '/' && strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
		length += (size_t)snprintf(ret_text + length, size - length, "%s%s", i ? " < " : "",
					   base[0] ? base : "(not named yet)");
		if (length >= size)
			break;
	}
	sqlite3_finalize(statement);
}
