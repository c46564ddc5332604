// SPDX-License-Identifier: Apache-2.0
#include "../base/cleanup.h"
#include "table.h"

/* Event loops with long turns. */
int tables_loops(struct table_list *list)
{
	enum { THREAD, TURNS, LONG, LONG_NS, MOST };
	static const struct table_column columns[] = {
		[THREAD] = {"thread", "", TABLE_THREAD},
		[TURNS] = {"turns", "", TABLE_COUNT},
		[LONG] = {"long_turns", "long turns", TABLE_COUNT},
		[LONG_NS] = {"long_ns", "in long turns", TABLE_NS},
		[MOST] = {"max_ns", "longest", TABLE_NS},
	};
	struct page_table table = {
		.id = "loops",
		.tab = "waits",
		.title = "Event loops",
		.about = "threads to which work comes by poll, and their turns of "
			 "10 ms and more",
		.columns = columns,
		.column_count = ARRAY_SIZE(columns)};
	const struct hash *loops = &list->data->digest->loops;

	table_begin(list, &table);
	for (size_t i = 0; i < loops->count; i++) {
		const struct loop *loop = hash_item(loops, i);

		if (!table_row(&table))
			continue; /* counted */
		table_at(&table, THREAD, list->data->thread_at[loop->thread]);
		table_number(&table, TURNS, (s64)loop->turns);
		table_number(&table, LONG, (s64)loop->long_turns);
		table_number(&table, LONG_NS, (s64)loop->long_ns);
		table_number(&table, MOST, (s64)loop->max_ns);
	}
	return table_end(list, &table);
}
