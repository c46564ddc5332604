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

struct sums {
	const struct table *table;
	const struct table_sums *what;
	struct hash items; /* words of the key, s64 sums, and with squares a double */
	size_t key_words, sum_count;
	u64 rows, written; /* of the table; of its sums */
	bool has_failed;   /* there is no use in going on */
};

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
	words = sums->key_words + sums->sum_count + (what->squares_of ? 1 : 0);
	hash_init(&sums->items, words * sizeof(u64), sums->key_words * sizeof(u64), what->max);
	sums->has_failed = sums->key_words > WORDS_MAX;
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
	}
}

static int prepare_insert(const struct sums *sums, sqlite3 *db, sqlite3_stmt **ret_insert)
{
	size_t columns = (size_t)__builtin_popcount(sums->what->keys | sums->what->sums) +
			 (sums->what->squares_of ? 1 : 0);
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

int sums_add(struct sums *sums, sqlite3 *db, const struct cell *cells)
{
	u64 key[WORDS_MAX];
	u64 *item;
	int code;

	if (sums->has_failed)
		return SQLITE_OK;
	sums->rows++;
	if (!make_key(sums, cells, key))
		return give_up(sums, db);
	item = hash_add(&sums->items, key);
	if (!item && hash_is_full(&sums->items)) {
		if (!is_worth_it(sums))
			return give_up(sums, db);
		code = write_items(sums, db);
		if (code)
			return code;
		item = hash_add(&sums->items, key);
	}
	if (!item)
		return give_up(sums, db);
	add_cells(sums, cells, item + sums->key_words);
	return SQLITE_OK;
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
