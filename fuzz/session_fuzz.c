// SPDX-License-Identifier: Apache-2.0
/*
 * A session from elsewhere, opened as dwell opens it; then its tables are read, and its views. The
 * input is a list of changes to a sound session: a place, of the file and its -wal one after the
 * other, and the bytes that stand there instead. An odd size means a session whose writer was
 * killed.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../src/base/clock.h"
#include "../src/base/log.h"
#include "../src/store/files.h"
#include "../src/store/reader.h"
#include "../src/store/sql.h"
#include "../src/store/tables.h"
#include "../src/store/views.h"
#include "../src/store/writer.h"

#define ROWS_READ_MAX 10000
#define VIEWS_APART   5 /* one in so many is asked each time: making them takes longer */
#define CHANGE_BYTES  8 /* where: 4, what: 4 */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct image {
	uint8_t *bytes;
	size_t db_size, wal_size;
};

static struct image complete, killed;

static size_t file_size(int fd)
{
	return (size_t)lseek(fd, 0, SEEK_END);
}

static void take_image(const struct session_files *files, struct image *ret_image)
{
	size_t db_size = file_size(files->db_fd), wal_size = file_size(files->wal_fd);
	uint8_t *bytes = malloc(db_size + wal_size);

	if (!bytes || pread(files->db_fd, bytes, db_size, 0) != (ssize_t)db_size ||
	    pread(files->wal_fd, bytes + db_size, wal_size, 0) != (ssize_t)wal_size)
		abort();
	*ret_image = (struct image){bytes, db_size, wal_size};
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct session_files files;
	struct writer *writer;

	(void)argc;
	(void)argv;
	log_set_level(LOG_QUIET);
	if (!freopen("/dev/null", "w", stdout) || files_create_in_memory(&files) ||
	    writer_open(files.db_fd, files.wal_fd, &writer))
		abort();
	for (u64 i = 0; i < 20; i++) {
		const struct cell cells[] = {cell_number(i), cell_number(i), cell_number(i + 1)};

		writer_sink(writer)->add(writer_sink(writer), &store_tables[TABLE_WINDOWS], cells);
	}
	writer_commit(writer);
	take_image(&files, &killed);
	writer_close(writer);
	take_image(&files, &complete);
	files_close(&files, FILES_NEED_WAL);
	return 0;
}

static int file_with(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	return fd;
}

static void read_all(sqlite3 *db, const char *table)
{
	sqlite3_stmt *query;
	char sql[64];

	snprintf(sql, sizeof(sql), "SELECT * FROM %s", table);
	if (sqlite3_prepare_v2(db, sql, -1, &query, NULL))
		return;
	for (int i = 0; i < ROWS_READ_MAX && sqlite3_step(query) == SQLITE_ROW; i++)
		for (int column = 0; column < sqlite3_column_count(query); column++)
			sqlite3_column_text(query, column);
	sqlite3_finalize(query);
}

static int take(sqlite3_stmt *row, void *context)
{
	(void)context;
	for (int i = 0; i < sqlite3_column_count(row); i++)
		sqlite3_column_text(row, i);
	return 0;
}

/* The views of dwell query, of all of it or of a part, and a few of them asked. */
static void ask_views(sqlite3 *db, size_t size)
{
	const struct sql_limits limits = {.time_ns = 50 * NS_PER_MS, .rows = 100};
	const struct windows part = {
		.is_slice = size % 3 == 0, .first = 1, .last = 3, .begin_ns = 1, .end_ns = 4};
	struct sql_reading answer;
	char sql[128];

	if (views_make(db, &part))
		return;
	for (size_t i = size % VIEWS_APART; i < session_view_count; i += VIEWS_APART) {
		snprintf(sql, sizeof(sql), "SELECT * FROM %s", session_views[i].name);
		sql_run(db, sql, &limits, "", take, take, NULL, &answer);
	}
}

static void change(uint8_t *image, size_t image_size, const uint8_t *data, size_t size)
{
	for (; size >= CHANGE_BYTES; data += CHANGE_BYTES, size -= CHANGE_BYTES) {
		uint32_t where;

		memcpy(&where, data, sizeof(where));
		memcpy(image + where % (image_size - 4), data + 4, 4);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const tables[] = {"meta",	"windows", "threads", "ledger",	 "states",
					     "samples", "stacks",  "frames",  "inlines", "modules"};
	const struct image *sound = size % 2 ? &killed : &complete;
	size_t image_size = sound->db_size + sound->wal_size;
	uint8_t *image = malloc(image_size);
	struct session *session;
	int db_fd, wal_fd;

	memcpy(image, sound->bytes, image_size);
	change(image, image_size, data, size);
	db_fd = file_with(image, sound->db_size);
	wal_fd = file_with(image + sound->db_size, sound->wal_size);
	if (!session_open_fds(db_fd, wal_fd, "fuzz", &session)) {
		for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
			read_all(session_db(session), tables[i]);
		ask_views(session_db(session), size);
		session_close(session);
	}
	close(db_fd);
	close(wal_fd);
	free(image);
	return 0;
}
