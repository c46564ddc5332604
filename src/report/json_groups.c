// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "groups.h"
#include "json.h"

static json_t *group_to_json(const struct digest *digest, const struct process_group *group)
{
	int order[STATE_LIMIT], count = account_sort_states(&group->account, order);
	json_t *ledger = json_array();

	for (int i = 0; i < count; i++)
		json_array_append_new(
			ledger, json_pack("{s:s, s:o, s:o}", "state", digest->state_names[order[i]],
					  "ns", json_number(group->account.ns[order[i]]), "count",
					  json_number(group->account.count[order[i]])));
	return json_pack("{s:s, s:o, s:o, s:o, s:o}", "name", group->name, "processes",
			 json_number(group->processes), "threads", json_number(group->threads),
			 "work_ns", json_number(group->work_ns), "ledger", ledger);
}

static json_t *filter_to_json(const struct session_part *part)
{
	json_t *filter = json_object();

	for (int key = 0; key < PROCESS_KEY_COUNT; key++)
		if (part->keys[key])
			json_object_set_new(filter, process_keys[key].name,
					    json_string(part->keys[key]));
	return filter;
}

void json_write_groups(struct json_writer *writer, const struct digest *digest)
{
	struct hash groups;

	json_write(writer, "filter", filter_to_json(&digest->options->part), 0);
	json_write(writer, "group_by", json_string(groups_by(digest)), 0);
	if (groups_find(digest, &groups)) {
		writer->err = -ENOMEM;
		return;
	}
	json_begin(writer, "groups", '[');
	for (size_t i = 0; !writer->err && i < groups.count; i++)
		json_write(writer, NULL, group_to_json(digest, hash_item(&groups, i)),
			   JSON_COMPACT);
	json_end(writer, ']');
	hash_free(&groups);
}
