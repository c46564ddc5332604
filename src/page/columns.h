/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows in memory written as a column set: an array for each field. Owns nothing. Called by the
 * writers of parts.
 */
#ifndef DWELL_PAGE_COLUMNS_H
#define DWELL_PAGE_COLUMNS_H

#include "part.h"

/* A name that ends in "+" is delta-encoded. */
struct column {
	const char *name;
	size_t offset, size;
	bool is_signed;
};

#define COLUMN(name, type, field)                                                                  \
	{                                                                                          \
		name, __builtin_offsetof(type, field), sizeof(((type *)0)->field),                 \
			_Generic(((type *)0)->field, s32                                           \
				 : true, s64                                                       \
				 : true, default                                                   \
				 : false)                                                          \
	}

/* "{"a": [...], "b": [...]}" */
void part_columns(struct part *part, const struct column *columns, size_t column_count,
		  const void *rows, size_t row_size, size_t row_count);

#endif
