// SPDX-License-Identifier: Apache-2.0
#include "labels.h"

const struct table labels_table = {
	.name = "labels",
	.about = "name that a signal has for a number of its own",
	.columns = "signal TEXT, id INTEGER, name TEXT, PRIMARY KEY (signal, id)",
	.width = 3,
};

void labels_add(struct sink *sink, const char *signal, u64 id, const char *name)
{
	const struct cell cells[] = {cell_text(signal, strlen(signal)), cell_number(id),
				     cell_text(name, strlen(name))};

	sink->add(sink, &labels_table, cells);
}
