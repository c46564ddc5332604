// SPDX-License-Identifier: Apache-2.0
/* A signal and its measures by name, as rows of a session have them. */
#include <stdlib.h>
#include <string.h>

#include "../store/query.h"
#include "signals.h"

int signals_column(sqlite3_stmt *row, int column)
{
	char name[64];
	int id;

	query_text(row, column, name, sizeof(name));
	id = signal_find(name, strlen(name));
	return id && signal_rows[id].signal->view ? id : 0;
}

int signals_kind(const struct signal_view *view, const char *name)
{
	for (size_t i = 0; i < view->kind_count; i++)
		if (!strcmp(view->kinds[i].name, name))
			return (int)i;
	return -1;
}

static struct measured *find(struct signals *signals, u64 id)
{
	for (size_t i = 0; i < signals->count; i++)
		if (signals->of[i].id == id)
			return &signals->of[i];
	return NULL;
}

/* Makes it, if it is not there yet; NULL: no memory. */
struct measured *signals_find(struct signals *signals, u64 id)
{
	const struct signal *signal = signal_rows[id].signal;
	struct measured *of = find(signals, id);

	if (of)
		return of;
	of = query_append(&signals->of, &signals->count, sizeof(*of), SIGNAL_LIMIT);
	if (!of)
		return NULL;
	*of = (struct measured){
		.id = (u32)id,
		.name = signal_rows[id].name,
		.signal = signal,
		.view = signal->view,
		.measures = calloc(signal->view->kind_count + 1, sizeof(struct measure)),
		.lists = calloc(signal->view->list_count + 1, sizeof(struct list_rows)),
	};
	return of->measures && of->lists ? of : NULL;
}
