// SPDX-License-Identifier: Apache-2.0
/*
 * Sums of a table's rows: they are what SQL finds in the rows themselves, and there are none where
 * they would save nothing or are not complete.
 */
#include "unit.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "../../src/store/sums.h"

#define ROWS 120000 /* a session that is worth its sums has at least 100,000 */

static const struct table_sums waits_sums = {
	.table = {.name = "waits_sums",
		  .columns = "thread INTEGER, comm TEXT, count INTEGER, ns INTEGER, squares REAL"},
	.keys = 1U << 1 | 1U << 2,
	.texts = 1U << 2,
	.sums = 1U << 3 | 1U << 4,
	.squares_of = 4,
	.squares_by = 3,
	.max = 1000,
};

static const struct table waits = {
	.name = "waits",
	.columns = "window INTEGER, thread INTEGER, comm TEXT, count INTEGER, ns INTEGER",
	.width = 5,
};

struct rig {
	sqlite3 *db;
	struct sums *sums;
	sqlite3_stmt *insert;
};

static void run(struct rig *rig, const char *sql)
{
	assert_int_equal(sqlite3_exec(rig->db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static struct rig start(void)
{
	struct rig rig = {0};

	assert_int_equal(sqlite3_open(":memory:", &rig.db), SQLITE_OK);
	run(&rig, "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)");
	run(&rig, "CREATE TABLE waits (window INTEGER, thread INTEGER, comm TEXT, count INTEGER, "
		  "ns INTEGER)");
	run(&rig, "CREATE TABLE waits_sums (thread INTEGER, comm TEXT, count INTEGER, ns INTEGER, "
		  "squares REAL)");
	run(&rig, "BEGIN");
	assert_int_equal(sqlite3_prepare_v2(rig.db, "INSERT INTO waits VALUES (?, ?, ?, ?, ?)", -1,
					    &rig.insert, NULL),
			 SQLITE_OK);
	rig.sums = sums_new(&waits, &waits_sums);
	assert_non_null(rig.sums);
	return rig;
}

static void end(struct rig *rig)
{
	sums_free(rig->sums);
	sqlite3_finalize(rig->insert);
	sqlite3_close(rig->db);
}

static void add(struct rig *rig, u64 window, u64 thread, const char *comm, s64 count, s64 ns)
{
	const struct cell cells[] = {cell_number(window), cell_number(thread),
				     cell_text(comm, strlen(comm)), cell_number((u64)count),
				     cell_number((u64)ns)};

	sqlite3_bind_int64(rig->insert, 1, (s64)window);
	sqlite3_bind_int64(rig->insert, 2, (s64)thread);
	if (*comm)
		sqlite3_bind_text(rig->insert, 3, comm, -1, SQLITE_TRANSIENT);
	else
		sqlite3_bind_null(rig->insert, 3);
	sqlite3_bind_int64(rig->insert, 4, count);
	sqlite3_bind_int64(rig->insert, 5, ns);
	assert_int_equal(sqlite3_step(rig->insert), SQLITE_DONE);
	sqlite3_reset(rig->insert);
	assert_int_equal(sums_add(rig->sums, rig->db, cells), SQLITE_OK);
}

static s64 number(struct rig *rig, const char *sql)
{
	sqlite3_stmt *query;
	s64 value;

	assert_int_equal(sqlite3_prepare_v2(rig->db, sql, -1, &query, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(query), SQLITE_ROW);
	value = sqlite3_column_int64(query, 0);
	sqlite3_finalize(query);
	return value;
}

/* Rows of which SQL finds another sum than the table of sums has; squares within 1e-9. */
static s64 differences(struct rig *rig)
{
	return number(rig,
		      "SELECT count(*) FROM (SELECT thread, comm, sum(count) AS c, sum(ns) AS n, "
		      "sum(ns * 1.0 * ns / max(count, 1)) AS s FROM waits GROUP BY 1, 2) AS a "
		      "FULL JOIN (SELECT thread, comm, sum(count) AS c, sum(ns) AS n, "
		      "sum(squares) AS s FROM waits_sums GROUP BY 1, 2) AS b "
		      "ON a.thread = b.thread AND a.comm IS b.comm WHERE a.c IS NOT b.c "
		      "OR a.n IS NOT b.n OR abs(a.s - b.s) > 1e-9 * a.s");
}

static void add_rows(struct rig *rig, u64 threads)
{
	for (u64 i = 0; i < ROWS; i++)
		add(rig, i / 1000, i % threads, i % 3 ? "worker" : "", 1 + (s64)(i % 4),
		    i % 50 ? (s64)(i * 7919 % 100000) : -500);
}

static void sums_are_those_of_the_rows(void **state)
{
	struct rig rig = start();

	(void)state;
	add_rows(&rig, 100);
	assert_int_equal(sums_finish(rig.sums, rig.db), SQLITE_OK);
	assert_true(sums_are_complete(rig.db, "waits"));
	assert_int_equal(number(&rig, "SELECT count(*) FROM waits_sums"), 200);
	assert_int_equal(differences(&rig), 0);
	end(&rig);
}

/* A thousand fit: the rest is written as it comes, a key perhaps several times. */
static void more_keys_than_fit_are_written_on_the_way(void **state)
{
	struct rig rig = start();

	(void)state;
	for (u64 i = 0; i < ROWS; i++)
		add(&rig, 0, i / 60, "worker", 1, (s64)i);
	assert_int_equal(sums_finish(rig.sums, rig.db), SQLITE_OK);
	assert_true(sums_are_complete(rig.db, "waits"));
	assert_int_equal(number(&rig, "SELECT count(*) FROM waits_sums"), ROWS / 60);
	assert_int_equal(differences(&rig), 0);
	end(&rig);
}

static bool has_sums(struct rig *rig)
{
	return number(rig, "SELECT count(*) FROM waits_sums");
}

static void there_are_none_where_they_save_nothing(void **state)
{
	struct rig few = start(), many = start(), late = start();

	(void)state;
	for (u64 i = 0; i < 1000; i++)
		add(&few, 0, i % 2, "worker", 1, 1);
	add_rows(&many, ROWS);
	for (u64 i = 0; i < ROWS; i++) /* worth it at first: two tables full are written */
		add(&late, 0, i < 20000 ? i / 10 : i, "worker", 1, 1);
	assert_int_equal(sums_finish(few.sums, few.db), SQLITE_OK);
	assert_int_equal(sums_finish(many.sums, many.db), SQLITE_OK);
	assert_int_equal(sums_finish(late.sums, late.db), SQLITE_OK);
	assert_false(has_sums(&few) || sums_are_complete(few.db, "waits"));
	assert_false(has_sums(&many) || sums_are_complete(many.db, "waits"));
	assert_false(has_sums(&late) || sums_are_complete(late.db, "waits"));
	end(&few);
	end(&many);
	end(&late);
}

static void a_long_text_ends_them(void **state)
{
	struct rig rig = start();

	(void)state;
	add(&rig, 0, 1, "0123456789abcdef", 1, 1); /* as long as it may be */
	add(&rig, 0, 1, "0123456789abcdefg", 1, 1);
	add_rows(&rig, 10);
	assert_int_equal(sums_finish(rig.sums, rig.db), SQLITE_OK);
	assert_false(has_sums(&rig));
	end(&rig);
}

/* A writer that continued without them, or was killed: the rows themselves are read. */
static void sums_of_other_rows_are_not_used(void **state)
{
	struct rig rig = start();

	(void)state;
	add_rows(&rig, 10);
	assert_false(sums_are_complete(rig.db, "waits"));
	assert_int_equal(sums_finish(rig.sums, rig.db), SQLITE_OK);
	run(&rig, "INSERT INTO waits VALUES (9, 9, '', 1, 1)");
	assert_false(sums_are_complete(rig.db, "waits"));
	run(&rig, "DELETE FROM waits WHERE window = 9 AND thread = 9 AND comm = ''");
	assert_true(sums_are_complete(rig.db, "waits"));
	run(&rig, "DROP TABLE waits_sums; CREATE VIEW waits_sums AS SELECT * FROM waits");
	assert_false(sums_are_complete(rig.db, "waits"));
	end(&rig);
}

/* --- by windows --- */

#define WINDOWS	  200
#define WINDOW_NS 1000

static const struct table_sums moves_sums = {
	.table = {.name = "moves_sums",
		  .columns = "window INTEGER, state INTEGER, ns INTEGER, count INTEGER, "
			     "steps INTEGER"},
	.keys = 1U << 0 | 1U << 1,
	.sums = 1U << 2 | 1U << 3,
	.max = 50,
	.window_ns = WINDOW_NS,
};

static const struct table moves = {
	.name = "moves",
	.columns = "window INTEGER, state INTEGER, ns INTEGER, count INTEGER",
	.width = 4,
};

static void move(struct rig *rig, s64 window, s64 state, s64 ns, s64 count)
{
	const struct cell cells[] = {cell_number((u64)window), cell_number((u64)state),
				     cell_number((u64)ns), cell_number((u64)count)};

	assert_int_equal(sums_add(rig->sums, rig->db, cells), SQLITE_OK);
}

/* Each is by itself what its windows have; a sum of many threads (it counts) is in its own. */
static void a_silence_is_in_all_windows_that_it_covers(void **state)
{
	static s64 truth[WINDOWS + 1];
	struct rig rig = start();
	char sql[256];

	(void)state;
	run(&rig, "CREATE TABLE moves_sums (window INTEGER, state INTEGER, ns INTEGER, "
		  "count INTEGER, steps INTEGER)");
	sums_free(rig.sums);
	rig.sums = sums_new(&moves, &moves_sums);
	for (s64 i = 0; i < ROWS; i++) {
		s64 window = i * WINDOWS / ROWS, length = i % 7 ? 1 : 2 + i % 50;
		s64 sign = i % 49 ? 1 : -1; /* some are taken back */

		if (i % 11 == 0) {
			move(&rig, window, 1, 5 * WINDOW_NS, 5);
			truth[window] += 5 * WINDOW_NS;
			continue;
		}
		move(&rig, window, 1, sign * length * WINDOW_NS, 0);
		if (length > window + 1) { /* nothing was before the first window */
			for (s64 w = 0; w <= window; w++)
				truth[w] += sign * length * WINDOW_NS / (window + 1);
			truth[window] += sign * length * WINDOW_NS -
					 sign * length * WINDOW_NS / (window + 1) * (window + 1);
			continue;
		}
		for (s64 w = window - length + 1; w <= window; w++)
			truth[w] += sign * WINDOW_NS;
	}
	assert_int_equal(sums_finish(rig.sums, rig.db), SQLITE_OK);
	for (int w = 0; w < WINDOWS; w++) {
		snprintf(sql, sizeof(sql),
			 "SELECT (SELECT total(ns) FROM moves_sums WHERE window = %d) + "
			 "(SELECT total(steps) FROM moves_sums WHERE window <= %d)",
			 w, w);
		assert_int_equal(number(&rig, sql), truth[w]);
	}
	end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_those_of_the_rows),
		cmocka_unit_test(more_keys_than_fit_are_written_on_the_way),
		cmocka_unit_test(there_are_none_where_they_save_nothing),
		cmocka_unit_test(a_long_text_ends_them),
		cmocka_unit_test(a_silence_is_in_all_windows_that_it_covers),
		cmocka_unit_test(sums_of_other_rows_are_not_used),
	};

	return cmocka_run_group_tests_name("sums", tests, NULL, NULL);
}
