// SPDX-License-Identifier: Apache-2.0
#include "columns.h"

#include <string.h>

static s64 value_at(const struct column *column, const char *row)
{
	const char *at = row + column->offset;
	u64 wide;
	u32 word;

	switch (column->size) {
	case sizeof(u64):
		memcpy(&wide, at, sizeof(wide));
		return (s64)wide;
	case sizeof(u32):
		memcpy(&word, at, sizeof(word));
		return column->is_signed ? (s64)(s32)word : (s64)word;
	}
	return (u8)*at;
}

static void write_column(struct part *part, const struct column *column, const char *rows,
			 size_t row_size, size_t row_count)
{
	bool is_delta = column->name[strlen(column->name) - 1] == '+';
	s64 before = 0;

	part_string(part, column->name);
	part_text(part, ":[");
	for (size_t i = 0; i < row_count; i++) {
		s64 value = value_at(column, rows + i * row_size);

		if (i)
			part_text(part, ",");
		part_number(part, is_delta ? (s64)((u64)value - (u64)before) : value);
		before = value;
	}
	part_text(part, "]");
}

void part_columns(struct part *part, const struct column *columns, size_t column_count,
		  const void *rows, size_t row_size, size_t row_count)
{
	part_text(part, "{");
	for (size_t i = 0; i < column_count; i++) {
		if (i)
			part_text(part, ",");
		write_column(part, &columns[i], rows, row_size, row_count);
	}
	part_text(part, "}");
}
