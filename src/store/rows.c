// SPDX-License-Identifier: Apache-2.0
#include "rows.h"

#include <errno.h>

#include "../model/signal.h"

#define TEXT_BYTES_MAX 1024
#define CELL_HEAD      (1 + sizeof(u64)) /* kind, then the number or the text's length */

static size_t text_length(const struct cell *cell)
{
	if (cell->kind != CELL_TEXT)
		return 0;
	return cell->length < TEXT_BYTES_MAX ? cell->length : TEXT_BYTES_MAX;
}

static size_t packed_size(const struct cell *cells, size_t width)
{
	size_t size = 1;

	for (size_t i = 0; i < width; i++)
		size += CELL_HEAD + text_length(&cells[i]);
	return size;
}

/* The cells of a row that are sent; the others are known where it is read. */
static size_t sent_width(unsigned int table)
{
	return table == TABLE_HOOKS ? HOOKS_IS_RARE : store_tables[table].width;
}

static void complete_row(unsigned int table, struct cell *cells)
{
	const struct probe *probe;

	if (table != TABLE_HOOKS)
		return;
	probe = cells[0].kind == CELL_TEXT ? signal_find_probe(cells[0].text, cells[0].length)
					   : NULL;
	/* One that no signal has is of a place that somebody chose. */
	cells[HOOKS_IS_RARE] = cell_number(!probe || probe->is_rare);
}

bool rows_add(struct rows *rows, enum store_table table, const struct cell *cells)
{
	size_t width = sent_width(table);
	char *to = rows->bytes + rows->size;

	if (packed_size(cells, width) > sizeof(rows->bytes) - rows->size)
		return false;
	rows->size += packed_size(cells, width);
	*to++ = (char)table;
	for (size_t i = 0; i < width; i++) {
		size_t length = text_length(&cells[i]);
		s64 number = cells[i].kind == CELL_TEXT ? (s64)length : cells[i].number;

		*to++ = (char)cells[i].kind;
		memcpy(to, &number, sizeof(number));
		to += sizeof(number);
		if (length)
			memcpy(to, cells[i].text, length);
		to += length;
	}
	return true;
}

/* One cell at *from, which moves on: 0 or -EBADMSG. */
static int read_cell(const char **from, const char *end, struct cell *ret_cell)
{
	struct cell cell = {0};

	if ((size_t)(end - *from) < CELL_HEAD || (unsigned char)**from > CELL_TEXT)
		return -EBADMSG;
	cell.kind = (enum cell_kind) * *from;
	memcpy(&cell.number, *from + 1, sizeof(cell.number));
	*from += CELL_HEAD;
	if (cell.kind == CELL_TEXT) {
		if (cell.number < 0 || cell.number > end - *from)
			return -EBADMSG;
		cell.text = *from;
		cell.length = (size_t)cell.number;
		*from += cell.length;
	}
	*ret_cell = cell;
	return 0;
}

int rows_read(const void *bytes, size_t size, struct sink *sink)
{
	const char *from = bytes, *end = from + size;

	while (from < end) {
		unsigned int table = (unsigned char)*from++;
		struct cell cells[STORE_WIDTH_MAX];

		if (table >= TABLE_COUNT)
			return -EBADMSG;
		for (size_t i = 0; i < sent_width(table); i++) {
			int err = read_cell(&from, end, &cells[i]);

			if (err)
				return err;
		}
		complete_row(table, cells);
		sink->add(sink, &store_tables[table], cells);
	}
	return 0;
}
