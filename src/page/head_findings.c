// SPDX-License-Identifier: Apache-2.0
/* Findings as dwell.report/1 has them, with the subject and the states that a click selects. */
#include <string.h>

#include "../base/cleanup.h"
#include "../report/json.h"
#include "head.h"

static const struct {
	const char *id, *states;
} abouts[] = {
#define FINDING(id, states) {id, states},
#include "finding_states.def"
#undef FINDING
};

static bool is_listed(const char *states, const char *state)
{
	while (*states) {
		size_t length = strcspn(states, " ");
		char name[32];

		snprintf(name, sizeof(name), "%.*s", (int)length, states);
		if (profile_state_fits(name, state))
			return true;
		states += length + (states[length] == ' ');
	}
	return false;
}

static json_t *states_of(const struct digest *digest, const struct finding *finding)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(abouts); i++)
		for (int state = 0; !strcmp(abouts[i].id, finding->id) && state < STATE_COUNT;
		     state++)
			if (is_listed(abouts[i].states, digest->state_names[state]))
				json_array_append_new(list, json_integer(state));
	for (size_t i = 0; !strcmp(finding->id, "chain") && i < digest->findings->chain_count;
	     i++) {
		const struct chain *chain = &digest->findings->chains[i];

		if (digest->threads[chain->thread].tid == finding->subject.tid &&
		    strstr(finding->sentence, chain->sentence)) {
			json_array_append_new(list, json_integer(chain->state));
			break;
		}
	}
	return list;
}

static json_t *one(const char *key, s32 at)
{
	return at == PAGE_NONE ? json_null() : json_pack("{s:i}", key, (int)at);
}

static s32 group_named(const struct page_data *data, const struct subject *subject)
{
	for (size_t i = 0; i < data->groups.count; i++) {
		const struct page_group *group = hash_item(&data->groups, i);

		if (!strcmp(strings_get(&data->names, group->comm), subject->comm) &&
		    !strcmp(strings_get(&data->names, group->service), subject->service))
			return (s32)i;
	}
	return PAGE_NONE;
}

/* The last process with this pid that is in the page. */
static s32 process_of(const struct page_data *data, u32 pid)
{
	const struct digest *digest = data->digest;
	s32 found = PAGE_NONE;

	for (size_t i = 0; i < digest->process_count; i++)
		if (digest->processes[i].pid == pid && data->process_at[i] != PAGE_NONE)
			found = data->process_at[i];
	return found;
}

static json_t *subject_of(const struct page_data *data, const struct subject *subject)
{
	if (subject->tid && page_tid_at(data, subject->tid) != PAGE_NONE)
		return one("thread", page_tid_at(data, subject->tid));
	if (subject->pid && process_of(data, subject->pid) != PAGE_NONE)
		return one("process", process_of(data, subject->pid));
	return subject->processes ? one("group", group_named(data, subject)) : json_null();
}

json_t *head_findings(const struct page_data *data)
{
	const struct findings *findings = data->digest->findings;
	json_t *list = json_array();

	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->of[i];
		json_t *json = json_finding(finding);

		/* The subject is whom to select; who it is by pid and name stays, as `about`. */
		json_object_set(json, "about", json_object_get(json, "subject"));
		json_object_set_new(json, "subject", subject_of(data, &finding->subject));
		json_object_set_new(json, "states", states_of(data->digest, finding));
		json_object_set_new(json, "weight_ns", json_number(finding->weight_ns));
		json_object_set_new(json, "is_told", json_boolean(finding->is_told));
		json_array_append_new(list, json);
	}
	return list;
}
