// SPDX-License-Identifier: Apache-2.0
/* The part that has all tables. */
#include "../base/cleanup.h"
#include "table.h"

static table_fn *const writers[] = {
#define TABLES(name) tables_##name,
#include "tables.def"
#undef TABLES
};

int page_write_tables(struct page_data *data, struct part *part)
{
	struct table_list list = {.data = data, .part = part};
	int err = 0;

	part_text(part, "{\"tables\":[");
	for (size_t i = 0; !err && i < ARRAY_SIZE(writers); i++)
		err = writers[i](&list);
	part_text(part, "]}");
	page_limit(data, "tables", list.count, PAGE_TABLE_ROWS_MAX, list.left_out,
		   "rows of tables: each has its most important ones");
	return err;
}
