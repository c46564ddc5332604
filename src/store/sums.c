// SPDX-License-Identifier: Apache-2.0
#include "sums.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/hash.h"

#define WORDS_MAX    24	    /* of a key: a text takes two */
#define TEXT_BYTES   16	    /* of a text; a longer one ends the sums */
#define ROWS_MIN     100000 /* fewer are read as fast as they are */
#define ROWS_PER_SUM 4	    /* where a sum stands for fewer rows, it saves too little */
#define SQL_BYTES    1024
#define CELLS_MAX    32

struct sums {
	const struct table *table;
	const struct table_sums *what;
	struct hash items; /* words of the key, s64 sums, and squares (a double) or steps */
	size_t key_words, sum_count;
	u64 rows, written; /* of the table; of its sums */
	s64 first_window;  /* where rows have one */
	bool has_failed;   /* there is no use in going on */
};

/* One more column than keys and sums. */
static size_t has_extra(const struct table_sums *what)
{
	return what->squares_of || what->window_ns;
}

struct sums *sums_new(const struct table *table, const struct table_sums *what)
{
	struct sums *sums = calloc(1, sizeof(*sums));
	size_t words;

	if (!sums)
		return NULL;
	sums->table = table;
	sums->what = what;
	sums->key_words =
		(size_t)__builtin_popcount(what->keys) + (size_t)__builtin_popcount(what->texts);
	sums->sum_count = (size_t)__builtin_popcount(what->sums);
	words = sums->key_words + sums->sum_count + has_extra(what);
	hash_init(&sums->items, words * sizeof(u64), sums->key_words * sizeof(u64), what->max);
	sums->has_failed = sums->key_words > WORDS_MAX || table->width > CELLS_MAX;
	return sums;
}

void sums_free(struct sums *sums)
{
	if (!sums)
		return;
	hash_free(&sums->items);
	free(sums);
}

static bool is_in(u32 columns, size_t column)
{
	return columns & 1U << column;
}

/* False: a text is longer than a key has room for. */
static bool make_key(const struct sums *sums, const struct cell *cells, u64 key[WORDS_MAX])
{
	size_t at = 0;

	for (size_t i = 0; i < sums->table->width; i++) {
		if (!is_in(sums->what->keys, i))
			continue;
		if (!is_in(sums->what->texts, i)) {
			key[at++] = (u64)cells[i].number;
			continue;
		}
		if (cells[i].length > TEXT_BYTES)
			return false;
		key[at] = key[at + 1] = 0;
		if (cells[i].kind == CELL_TEXT)
			memcpy(&key[at], cells[i].text, cells[i].length);
		at += 2;
	}
	return true;
}

static void add_cells(const struct sums *sums, const struct cell *cells, u64 *values)
{
	for (size_t i = 0; i < sums->table->width; i++) {
		s64 sum;

		if (!is_in(sums->what->sums, i))
			continue;
		if (__builtin_add_overflow((s64)*values, cells[i].number, &sum))
			sum = cells[i].number > 0 ? INT64_MAX : INT64_MIN;
		*values++ = (u64)sum;
	}
	if (sums->what->squares_of) {
		double value = (double)cells[sums->what->squares_of].number, squares;
		s64 by = cells[sums->what->squares_by].number;

		memcpy(&squares, values, sizeof(squares));
		squares += value * value / (double)(by > 0 ? by : 1);
		memcpy(values, &squares, sizeof(squares));
	}
}

static int run(sqlite3 *db, const char *format, const struct sums *sums, const char *more)
{
	char sql[SQL_BYTES];

	if (snprintf(sql, sizeof(sql), format, sums->what->table.name, more) >= (int)sizeof(sql))
		return SQLITE_TOOBIG;
	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static void bind_item(const struct sums *sums, sqlite3_stmt *insert, const u64 *words)
{
	int to = 1;

	for (size_t i = 0; i < sums->table->width; i++) {
		const char *text = (const char *)words;

		if (is_in(sums->what->texts, i)) {
			int length = (int)strnlen(text, TEXT_BYTES);

			if (length)
				sqlite3_bind_text(insert, to++, text, length, SQLITE_STATIC);
			else
				sqlite3_bind_null(insert, to++);
			words += 2;
		} else if (is_in(sums->what->keys | sums->what->sums, i)) {
			sqlite3_bind_int64(insert, to++, (s64)*words++);
		}
	}
	if (sums->what->squares_of) {
		double squares;

		memcpy(&squares, words, sizeof(squares));
		sqlite3_bind_double(insert, to, squares);
	} else if (sums->what->window_ns) {
		sqlite3_bind_int64(insert, to, (s64)*words);
	}
}

static int prepare_insert(const struct sums *sums, sqlite3 *db, sqlite3_stmt **ret_insert)
{
	size_t columns = (size_t)__builtin_popcount(sums->what->keys | sums->what->sums) +
			 has_extra(sums->what);
	char sql[SQL_BYTES];
	size_t length = (size_t)snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES (?",
					 sums->what->table.name);

	for (size_t i = 1; i < columns; i++)
		length += (size_t)snprintf(sql + length, sizeof(sql) - length, ", ?");
	snprintf(sql + length, sizeof(sql) - length, ")");
	return sqlite3_prepare_v2(db, sql, -1, ret_insert, NULL);
}

static int write_items(struct sums *sums, sqlite3 *db)
{
	sqlite3_stmt *insert = NULL;
	int code = prepare_insert(sums, db, &insert);

	for (size_t i = 0; !code && i < sums->items.count; i++) {
		bind_item(sums, insert, hash_item(&sums->items, i));
		sqlite3_step(insert);
		code = sqlite3_reset(insert); /* says what the step said */
	}
	sqlite3_finalize(insert);
	sums->written += sums->items.count;
	hash_clear(&sums->items);
	return code;
}

/* Sums of which there are nearly as many as rows save nothing. */
static bool is_worth_it(const struct sums *sums)
{
	return (sums->written + sums->items.count) * ROWS_PER_SUM <= sums->rows;
}

static int give_up(struct sums *sums, sqlite3 *db)
{
	sums->has_failed = true;
	hash_free(&sums->items);
	return sums->written ? run(db, "DELETE FROM %s%s", sums, "") : SQLITE_OK;
}

/* Where a row is added up; NULL: nowhere, and *ret_code is what to return. */
static u64 *find_item(struct sums *sums, sqlite3 *db, const struct cell *cells, int *ret_code)
{
	u64 key[WORDS_MAX];
	u64 *item;

	if (!make_key(sums, cells, key)) {
		*ret_code = give_up(sums, db);
		return NULL;
	}
	*ret_code = SQLITE_OK;
	item = hash_add(&sums->items, key);
	if (!item && hash_is_full(&sums->items) && is_worth_it(sums)) {
		*ret_code = write_items(sums, db);
		if (*ret_code)
			return NULL;
		item = hash_add(&sums->items, key);
	}
	if (!item)
		*ret_code = give_up(sums, db);
	return item;
}

static int add_row(struct sums *sums, sqlite3 *db, const struct cell *cells, s64 step)
{
	int code = SQLITE_OK;
	u64 *item = sums->has_failed ? NULL : find_item(sums, db, cells, &code);

	if (!item)
		return code;
	add_cells(sums, cells, item + sums->key_words);
	if (sums->what->window_ns)
		item[sums->key_words + sums->sum_count] += (u64)step;
	return SQLITE_OK;
}

/* How many windows a row covers. */
static s64 windows_of(struct sums *sums, const struct cell *cells)
{
	u64 window_ns = sums->what->window_ns;
	s64 ns = cells[__builtin_ctz(sums->what->sums)].number, before;
	u64 length = ns < 0 ? -(u64)ns : (u64)ns, windows;

	if (!window_ns)
		return 1;
	if (sums->rows == 1 || cells[0].number < sums->first_window)
		sums->first_window = cells[0].number;
	windows = (length + window_ns / 2) / window_ns;
	if (windows < 2 || cells[31 - __builtin_clz(sums->what->sums)].number)
		return 1;
	before = cells[0].number - sums->first_window;
	return windows > (u64)before ? before + 1 : (s64)windows;
}

static int add_steps(struct sums *sums, sqlite3 *db, const struct cell *cells, s64 windows)
{
	int column = __builtin_ctz(sums->what->sums), code;
	s64 each = cells[column].number / windows;
	struct cell moved[CELLS_MAX];

	memcpy(moved, cells, sums->table->width * sizeof(*cells));
	moved[column].number -= each * windows;
	code = add_row(sums, db, moved, 0);
	moved[column].number = 0;
	moved[0].number = cells[0].number - windows + 1;
	if (!code)
		code = add_row(sums, db, moved, each);
	moved[0].number = cells[0].number + 1;
	return code ? code : add_row(sums, db, moved, -each);
}

int sums_add(struct sums *sums, sqlite3 *db, const struct cell *cells)
{
	s64 windows;

	if (sums->has_failed)
		return SQLITE_OK;
	sums->rows++;
	windows = windows_of(sums, cells);
	return windows > 1 ? add_steps(sums, db, cells, windows) : add_row(sums, db, cells, 0);
}

int sums_finish(struct sums *sums, sqlite3 *db)
{
	char rows[32];
	int code;

	if (sums->has_failed)
		return SQLITE_OK;
	if (sums->rows < ROWS_MIN || !is_worth_it(sums))
		return give_up(sums, db);
	code = write_items(sums, db);
	snprintf(rows, sizeof(rows), "%llu", sums->rows);
	return code ? code
		    : run(db, "INSERT OR REPLACE INTO meta VALUES ('sums.%s', '%s')", sums, rows);
}

bool sums_are_complete_as(sqlite3 *db, const char *table, const char *sums)
{
	sqlite3_stmt *found = NULL;
	char sql[SQL_BYTES];
	bool is_complete = false;

	/* Rows are only ever added, so the last one's number is how many there are. */
	snprintf(sql, sizeof(sql),
		 "SELECT 1 FROM meta WHERE key = 'sums.%s_sums' AND CAST(value AS INTEGER) = "
		 "(SELECT max(rowid) FROM %s) AND EXISTS (SELECT 1 FROM sqlite_master WHERE "
		 "name = '%s_sums' AND type = 'table' AND rootpage > 0)",
		 sums, table, sums);
	if (sqlite3_prepare_v2(db, sql, -1, &found, NULL) == SQLITE_OK)
		is_complete = sqlite3_step(found) == SQLITE_ROW;
	sqlite3_finalize(found);
	return is_complete;
}

bool sums_are_complete(sqlite3 *db, const char *table)
{
	return sums_are_complete_as(db, table, table);
}
