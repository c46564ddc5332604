// SPDX-License-Identifier: Apache-2.0
#include "details.h"

#include <string.h>

#include "../model/signal.h"

const struct table details_table = {
	.name = "details",
	.about = "name of the detail of a series, or a slow event",
	.columns = "signal TEXT, id INTEGER, name TEXT, PRIMARY KEY (signal, id)",
	.width = 3,
};

void details_add(struct sink *sink)
{
	for (int id = 0; id < SIGNAL_LIMIT; id++) {
		const struct signal *signal = signal_rows[id].signal;
		const struct series_field *detail =
			signal && signal->view ? &signal->view->detail : NULL;
		const char *name = signal_rows[id].name;

		for (size_t i = 0; detail && detail->kind == FIELD_NAME && i < detail->name_count;
		     i++) {
			const char *text = detail->names[i] ? detail->names[i] : "";
			const struct cell cells[] = {cell_text(name, strlen(name)), cell_number(i),
						     cell_text(text, strlen(text))};

			if (*text)
				sink->add(sink, &details_table, cells);
		}
	}
}
