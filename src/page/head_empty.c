// SPDX-License-Identifier: Apache-2.0
/* Views without data: an empty one says why, and what fills it. */
#include <string.h>

#include "../report/json.h"
#include "head.h"

static bool has_signal(const struct digest *digest, const char *name)
{
	for (size_t i = 0; i < digest->signals.count; i++)
		if (!strcmp(digest->signals.of[i].name, name))
			return true;
	return false;
}

static bool has_table(const struct page_data *data, const char *tab)
{
	for (size_t i = 0; i < data->tab_count; i++)
		if (!strcmp(data->tabs[i], tab))
			return true;
	return false;
}

static void add(json_t *list, bool is_empty, const char *tab, const char *why, const char *options)
{
	char command[256] = "";

	if (!is_empty)
		return;
	if (*options)
		snprintf(command, sizeof(command), "sudo dwell record %s -d 10 -o FILE.dwell",
			 options);
	json_array_append_new(
		list, json_pack("{s:s, s:s, s:s}", "tab", tab, "why", why, "command", command));
}

json_t *head_empty(const struct page_data *data)
{
	const struct digest *digest = data->digest;
	json_t *list = json_array();

#define EMPTY(tab, condition, why, options) add(list, condition, tab, why, options);
#include "empties.def"
#undef EMPTY
	return list;
}
