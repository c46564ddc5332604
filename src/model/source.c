// SPDX-License-Identifier: Apache-2.0
#include "source.h"

#include <stdio.h>

static bool take_number(void *context, const struct cell *cells)
{
	*(u64 *)context = cell_as_number(&cells[0]);
	return false;
}

u64 source_highest(struct source *source, const char *column, const char *table)
{
	char columns[64];
	u64 highest = 0;

	snprintf(columns, sizeof(columns), "max(%s)", column);
	source->each(source, columns, 1, table, take_number, &highest);
	return highest;
}
