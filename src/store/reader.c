// SPDX-License-Identifier: Apache-2.0
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/caller.h"
#include "../base/cleanup.h"
#include "../base/log.h"
#include "tables.h"
#include "vfs.h"

/* Where SQLite's file format has what interests here; all big-endian. */
#define HEADER_BYTES	  100
#define HEADER_MAGIC	  "SQLite format 3"
#define APPLICATION_ID_AT 68

/*
 * A row of a few tens of bytes takes a few tens of steps, and each table is read a few times; pages
 * that point at each other in circles have rows without end.
 */
#define STEPS_AT_ONCE  100000
#define STEPS_FREE     100000000ULL
#define STEPS_PER_BYTE 64

struct session {
	struct vfs vfs;
	sqlite3 *db;
	u64 steps_left; /* of SQLite's machine */
	int own_fds[2]; /* -1: the caller's */
};

bool session_is_one(int db_fd)
{
	unsigned char header[HEADER_BYTES];
	const unsigned char *id = header + APPLICATION_ID_AT;

	return pread(db_fd, header, sizeof(header), 0) == sizeof(header) &&
	       !memcmp(header, HEADER_MAGIC, sizeof(HEADER_MAGIC)) &&
	       ((u32)id[0] << 24 | (u32)id[1] << 16 | (u32)id[2] << 8 | id[3]) ==
		       SESSION_APPLICATION_ID;
}

static int open_plain_file(const char *path)
{
	int fd = caller_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return fd;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

int session_open_files(const char *path, int *ret_db_fd, int *ret_wal_fd)
{
	char wal_path[PATH_MAX];
	int fd = open_plain_file(path);

	if (fd < 0) {
		log_error("cannot read %s: %s; %s", path,
			  fd == -EINVAL ? "it is not a regular file" : strerror(-fd),
			  fd == -EACCES
				  ? "a session is readable by its owner only: use sudo, or chown it"
				  : "'dwell record' makes a session, -o names it");
		return fd;
	}
	*ret_db_fd = fd;
	*ret_wal_fd = -1;
	if (snprintf(wal_path, sizeof(wal_path), "%s-wal", path) < (int)sizeof(wal_path)) {
		fd = open_plain_file(wal_path);
		if (fd >= 0)
			*ret_wal_fd = fd;
		else if (fd != -ENOENT)
			log_error("%s is left out: %s; what it holds is missing", wal_path,
				  fd == -EINVAL ? "it is not a regular file" : strerror(-fd));
	}
	return 0;
}

static int refuse(const char *name, int code)
{
	bool has_no_memory = (code & 0xff) == SQLITE_NOMEM;

	log_error("cannot read %s: %s; %s", name, sqlite3_errstr(code),
		  has_no_memory ? "free some memory" : "it is damaged, or not a dwell session");
	return has_no_memory ? -ENOMEM : -EBADMSG;
}

/* 0 or SQLite's code. Foreign SQL can be in a file: views, triggers, defaults. None of it is to
 * run. */
static int distrust(sqlite3 *db)
{
	static const struct {
		int limit, most;
	} limits[] = {
		{SQLITE_LIMIT_LENGTH, 1 << 20},	    {SQLITE_LIMIT_SQL_LENGTH, 1 << 16},
		{SQLITE_LIMIT_COLUMN, 100},	    {SQLITE_LIMIT_EXPR_DEPTH, 100},
		{SQLITE_LIMIT_COMPOUND_SELECT, 32}, {SQLITE_LIMIT_VDBE_OP, 100000},
		{SQLITE_LIMIT_FUNCTION_ARG, 16},    {SQLITE_LIMIT_ATTACHED, 0},
		{SQLITE_LIMIT_TRIGGER_DEPTH, 1},    {SQLITE_LIMIT_WORKER_THREADS, 0},
	};
	static const struct {
		int option, value;
	} options[] = {
		{SQLITE_DBCONFIG_DEFENSIVE, 1},
		{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
		{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
		{SQLITE_DBCONFIG_ENABLE_VIEW, 0}, /* but for temporary ones, which are our own */
		{SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1},
	};
	int code = 0;

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		sqlite3_limit(db, limits[i].limit, limits[i].most);
	for (size_t i = 0; !code && i < ARRAY_SIZE(options); i++)
		code = sqlite3_db_config(db, options[i].option, options[i].value, NULL);
	if (!code)
		code = sqlite3_exec(db,
				    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cell_size_check = ON;"
				    "PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0",
				    NULL, NULL, NULL);
	return code;
}

static int query_number(sqlite3 *db, const char *sql, s64 *ret_number)
{
	sqlite3_stmt *query;
	int code = sqlite3_prepare_v2(db, sql, -1, &query, NULL);

	if (code)
		return code;
	code = sqlite3_step(query);
	if (code == SQLITE_ROW)
		*ret_number = sqlite3_column_int64(query, 0);
	sqlite3_finalize(query);
	return code == SQLITE_ROW ? 0 : code;
}

/* A view or a virtual table in the place of a table could say anything, and take for ever. */
static bool is_table(sqlite3 *db, const char *name, int *ret_code)
{
	char sql[128];
	s64 count = 0;

	snprintf(sql, sizeof(sql),
		 "SELECT count(*) FROM sqlite_schema WHERE name = '%s' AND type = 'table' "
		 "AND rootpage > 0",
		 name);
	*ret_code = query_number(db, sql, &count);
	return !*ret_code && count == 1;
}

struct search {
	sqlite3 *db;
	const char *missing; /* NULL: none so far */
	int code;
};

static bool look_for(const struct table *table, void *context)
{
	struct search *search = context;

	if (!is_table(search->db, table->name, &search->code))
		search->missing = table->name;
	return !search->missing;
}

/* A table that this version knows and the file lacks, or that could not be looked for, by the code;
 * NULL: none. */
static const char *missing_table(sqlite3 *db, int *ret_code)
{
	struct search search = {.db = db};

	tables_each(look_for, &search);
	*ret_code = search.code;
	return search.missing;
}

static int check_version(sqlite3 *db, const char *name)
{
	const char *missing;
	s64 version = 0;
	int code = query_number(db, "PRAGMA user_version", &version);

	if (!code)
		code = query_number(db, "SELECT count(*) FROM sqlite_schema", &(s64){0});
	if (code)
		return refuse(name, code);
	if (version / 1000 != SESSION_SCHEMA_MAJOR) {
		log_error("cannot read %s: it has session schema %lld, this dwell reads %d; it was "
			  "written by %s dwell, use that one",
			  name, (long long)version / 1000, SESSION_SCHEMA_MAJOR,
			  version / 1000 > SESSION_SCHEMA_MAJOR ? "a newer" : "an older");
		return -EPROTONOSUPPORT;
	}
	/* One of an older minor version has what there was then. */
	missing = version < SESSION_USER_VERSION ? NULL : missing_table(db, &code);
	if (code)
		return refuse(name, code);
	if (!missing)
		return 0;
	log_error("cannot read %s: its table '%s' is missing; it was damaged, or changed by hand",
		  name, missing);
	return -EBADMSG;
}

/* Other than 0 ends the query, with SQLITE_INTERRUPT. */
static int take_steps(void *context)
{
	struct session *session = context;

	if (session->steps_left < STEPS_AT_ONCE)
		return 1;
	session->steps_left -= STEPS_AT_ONCE;
	return 0;
}

static void bound_steps(struct session *session, int db_fd, int wal_fd)
{
	struct stat db = {0}, wal = {0};

	fstat(db_fd, &db);
	if (wal_fd >= 0)
		fstat(wal_fd, &wal);
	session->steps_left = STEPS_FREE + ((u64)db.st_size + (u64)wal.st_size) * STEPS_PER_BYTE;
	sqlite3_progress_handler(session->db, STEPS_AT_ONCE, take_steps, session);
}

int session_open_live_fds(int db_fd, int wal_fd, const char *name, struct session **ret_session)
{
	struct session *session;
	int err, code;

	if (!session_is_one(db_fd)) {
		log_error("cannot read %s: it is not a dwell session; dwell record writes one",
			  name);
		return -EBADMSG;
	}
	session = calloc(1, sizeof(*session));
	if (!session)
		return refuse(name, SQLITE_NOMEM);
	session->own_fds[0] = session->own_fds[1] = -1;
	err = vfs_open(&session->vfs, db_fd, wal_fd, false, &session->db);
	if (err) {
		free(session);
		return refuse(name, SQLITE_NOMEM);
	}
	bound_steps(session, db_fd, wal_fd);
	code = distrust(session->db);
	err = code ? refuse(name, code) : check_version(session->db, name);
	if (err) {
		session_close(session);
		return err;
	}
	*ret_session = session;
	return 0;
}

int session_open_fds(int db_fd, int wal_fd, const char *name, struct session **ret_session)
{
	if (vfs_lock(db_fd, false) == -EBUSY) {
		log_error("cannot read %s: it is still being written; end that dwell first", name);
		return -EBUSY;
	}
	return session_open_live_fds(db_fd, wal_fd, name, ret_session);
}

int session_open(const char *path, struct session **ret_session)
{
	int fds[2], err = session_open_files(path, &fds[0], &fds[1]);

	if (err)
		return err;
	err = session_open_fds(fds[0], fds[1], path, ret_session);
	if (!err) {
		memcpy((*ret_session)->own_fds, fds, sizeof(fds));
		return 0;
	}
	close(fds[0]);
	if (fds[1] >= 0)
		close(fds[1]);
	return err;
}

sqlite3 *session_db(const struct session *session)
{
	return session->db;
}

void session_close(struct session *session)
{
	if (!session)
		return;
	vfs_close(&session->vfs, session->db);
	for (size_t i = 0; i < ARRAY_SIZE(session->own_fds); i++)
		if (session->own_fds[i] >= 0)
			close(session->own_fds[i]);
	free(session);
}
