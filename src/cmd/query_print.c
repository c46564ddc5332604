// SPDX-License-Identifier: Apache-2.0
#include "query_print.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../base/text.h"
#include "../base/utf8.h"
#include "../store/query.h"

#define COLUMN_LEAST 20 /* of a text that is shortened */
#define GAP	     2

/* --- cells --- */

static bool is_number(sqlite3_stmt *row, int column)
{
	int type = sqlite3_column_type(row, column);

	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/* As valid UTF-8, and in hexadecimal what is no text; counted if it is cut. The caller frees it. */
static char *read_cell(struct query_print *print, sqlite3_stmt *row, int column, size_t most)
{
	const unsigned char *bytes;
	char *text = malloc(most);
	size_t length, at = 0;

	if (!text)
		return NULL;
	if (sqlite3_column_type(row, column) != SQLITE_BLOB) {
		query_text(row, column, text, most);
		length = (size_t)sqlite3_column_bytes(row, column);
		print->cut += length >= most;
		return text;
	}
	bytes = sqlite3_column_blob(row, column);
	length = (size_t)sqlite3_column_bytes(row, column);
	print->cut += 2 * length >= most;
	for (size_t i = 0; bytes && i < length && at + 3 <= most; i++)
		at += (size_t)snprintf(text + at, most - at, "%02x", bytes[i]);
	text[at] = '\0';
	return text;
}

static int lack_memory(void)
{
	log_error("not enough memory for the answer; ask for fewer rows with --limit-rows");
	return -ENOMEM;
}

/* --- CSV, as RFC 4180 has it --- */

static void print_quoted(FILE *out, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")] && *text) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static int print_csv(struct query_print *print, sqlite3_stmt *row)
{
	for (int i = 0; i < print->width; i++) {
		_cleanup_free_ char *text = read_cell(print, row, i, QUERY_CELL_BYTES);

		if (!text)
			return lack_memory();
		if (i)
			fputc(',', print->out);
		if (is_number(row, i))
			fputs(text, print->out);
		else if (sqlite3_column_type(row, i) != SQLITE_NULL)
			print_quoted(print->out,
				     text); /* an empty text is "", no text is nothing */
	}
	fputc('\n', print->out);
	return 0;
}

/* --- JSON: an array of objects --- */

static json_t *json_cell(struct query_print *print, sqlite3_stmt *row, int column)
{
	_cleanup_free_ char *text = NULL;
	double real;

	switch (sqlite3_column_type(row, column)) {
	case SQLITE_NULL:
		return json_null();
	case SQLITE_INTEGER:
		return json_integer(sqlite3_column_int64(row, column));
	case SQLITE_FLOAT:
		real = sqlite3_column_double(row, column);
		return isfinite(real) ? json_real(real) : json_null();
	}
	text = read_cell(print, row, column, QUERY_CELL_BYTES);
	return text ? json_string(text) : NULL;
}

static int print_json(struct query_print *print, sqlite3_stmt *row)
{
	json_t *object = json_object();
	int err = object ? 0 : -ENOMEM;

	for (int i = 0; !err && i < print->width; i++)
		err = json_object_set_new(object, print->names[i], json_cell(print, row, i))
			      ? -ENOMEM
			      : 0;
	if (!err)
		fputs(print->rows ? ",\n" : "[\n", print->out);
	/* In ASCII: what is in a name must not move a cursor, nor turn a line round. */
	if (!err && json_dumpf(object, print->out,
			       JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(15)))
		err = ferror(print->out) ? 0 : -ENOMEM; /* seen again when it is flushed */
	json_decref(object);
	return err ? lack_memory() : 0;
}

/* --- a table --- */

static int keep_row(struct query_print *print, sqlite3_stmt *row)
{
	size_t start = print->cell_count, width = (size_t)print->width;
	char escaped[2 * QUERY_TABLE_BYTES];

	if (print->kept_bytes > QUERY_KEPT_BYTES) {
		print->left_out++;
		return 0;
	}
	if (!start || (start / width & (start / width - 1)) == 0) { /* a power of two, of rows */
		size_t rows = start ? start / width * 2 : 16;
		char **grown = rows > 16 || !start
				       ? reallocarray(print->cells, rows * width, sizeof(*grown))
				       : print->cells;

		if (!grown)
			return lack_memory();
		print->cells = grown;
	}
	for (size_t i = 0; i < width; i++) {
		_cleanup_free_ char *text = read_cell(print, row, (int)i, QUERY_TABLE_BYTES);

		if (!text)
			return lack_memory();
		utf8_escape(escaped, sizeof(escaped), text);
		print->cells[print->cell_count] = strdup(escaped);
		if (!print->cells[print->cell_count++])
			return lack_memory();
		print->kept_bytes += strlen(escaped) + sizeof(char *);
		print->is_text[i] |=
			!is_number(row, (int)i) && sqlite3_column_type(row, (int)i) != SQLITE_NULL;
	}
	return 0;
}

static const char *cell_at(const struct query_print *print, size_t row, int column)
{
	return print->cells[row * (size_t)print->width + (size_t)column];
}

/* The widest texts give way first, until a line fits or all of them are short. */
static void fit(const struct query_print *print, size_t *widths)
{
	for (;;) {
		size_t line = 0;
		int widest = -1;

		for (int i = 0; i < print->width; i++) {
			line += widths[i] + (i ? GAP : 0);
			if (print->is_text[i] && (widest < 0 || widths[i] > widths[widest]))
				widest = i;
		}
		if (line <= (size_t)print->columns || widest < 0 || widths[widest] <= COLUMN_LEAST)
			return;
		widths[widest]--;
	}
}

/* Cut at its end, with a … in the last column that it has. */
static void print_cell(const struct query_print *print, int column, const char *text, size_t width)
{
	size_t columns = utf8_columns(text), shown = 0;
	bool is_last = column == print->width - 1, is_text = print->is_text[column];

	if (column)
		fprintf(print->out, "%*s", GAP, "");
	if (!is_text && columns < width)
		fprintf(print->out, "%*s", (int)(width - columns), "");
	if (columns <= width) {
		fputs(text, print->out);
	} else {
		for (; *text; text++) {
			shown += ((unsigned char)*text & 0xc0) != 0x80;
			if (shown == width)
				break;
			fputc(*text, print->out);
		}
		fputs("…", print->out);
	}
	if (is_text && !is_last && columns < width)
		fprintf(print->out, "%*s", (int)(width - columns), "");
}

static int print_table(const struct query_print *print)
{
	size_t rows = print->cell_count / (size_t)print->width;
	_cleanup_free_ size_t *widths = calloc((size_t)print->width, sizeof(*widths));

	if (!widths)
		return lack_memory();
	for (int i = 0; i < print->width; i++) {
		widths[i] = utf8_columns(print->names[i]);
		for (size_t r = 0; r < rows; r++) {
			size_t columns = utf8_columns(cell_at(print, r, i));

			widths[i] = columns > widths[i] ? columns : widths[i];
		}
	}
	if (print->columns)
		fit(print, widths);
	for (int i = 0; i < print->width; i++)
		print_cell(print, i, print->names[i], widths[i]);
	fputc('\n', print->out);
	for (size_t r = 0; r < rows; r++) {
		for (int i = 0; i < print->width; i++)
			print_cell(print, i, cell_at(print, r, i), widths[i]);
		fputc('\n', print->out);
	}
	return 0;
}

/* --- all of them --- */

static bool is_taken(const struct query_print *print, int columns, const char *name)
{
	for (int i = 0; i < columns; i++)
		if (!strcmp(print->names[i], name))
			return true;
	return false;
}

/* A name that was there before gets a number: an object has each once. */
static char *name_column(const struct query_print *print, int column, const char *name)
{
	char copy[256], escaped[512], numbered[544];

	utf8_copy(copy, sizeof(copy), name ? name : "", name ? strlen(name) : 0);
	utf8_escape(escaped, sizeof(escaped), copy);
	text_copy(numbered, sizeof(numbered), escaped);
	for (int number = 2; is_taken(print, column, numbered); number++)
		snprintf(numbered, sizeof(numbered), "%s_%d", escaped, number);
	return strdup(numbered);
}

int query_print_columns(sqlite3_stmt *row, void *context)
{
	struct query_print *print = context;
	size_t width = (size_t)sqlite3_column_count(row);

	print->names = calloc(width, sizeof(*print->names));
	print->is_text = calloc(width, sizeof(*print->is_text));
	if (!print->names || !print->is_text)
		return lack_memory();
	for (; print->width < (int)width; print->width++) {
		int i = print->width;

		print->names[i] = name_column(print, i, sqlite3_column_name(row, i));
		if (!print->names[i])
			return lack_memory();
		if (print->format != QUERY_CSV)
			continue;
		fputs(i ? "," : "", print->out);
		print_quoted(print->out, print->names[i]);
	}
	fputs(print->format == QUERY_CSV ? "\n" : "", print->out);
	return 0;
}

int query_print_row(sqlite3_stmt *row, void *context)
{
	struct query_print *print = context;
	int err = print->format == QUERY_TABLE ? keep_row(print, row)
		  : print->format == QUERY_CSV ? print_csv(print, row)
					       : print_json(print, row);

	print->rows++;
	return err;
}

int query_print_end(struct query_print *print)
{
	if (print->format == QUERY_TABLE)
		return print_table(print);
	if (print->format == QUERY_JSON)
		fputs(print->rows ? "\n]\n" : "[]\n", print->out);
	return 0;
}

void query_print_free(struct query_print *print)
{
	for (int i = 0; print->names && i < print->width; i++)
		free(print->names[i]);
	for (size_t i = 0; i < print->cell_count; i++)
		free(print->cells[i]);
	free(print->names);
	free(print->cells);
	free(print->is_text);
}
