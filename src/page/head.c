// SPDX-License-Identifier: Apache-2.0
/* What the first paint needs: what was measured, how far to trust it, and what was found. */
#include "head.h"

#include <errno.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/version.h"
#include "../model/state.h"
#include "../report/format.h"
#include "../report/groups.h"
#include "../report/json.h"
#include "../report/verdict.h"
#include "../store/process_filter.h"

#define SCHEMA "dwell.page/1"
#define LABEL  "label." /* how keys of meta begin that are a person's own */

static const char *const looks[] = {
	[FUNCTION_USER] = "user", [FUNCTION_KERNEL] = "kernel",
	[FUNCTION_JIT] = "jit",	  [FUNCTION_UNNAMED] = "unnamed",
	[FUNCTION_MARK] = "mark", [FUNCTION_PROCESS] = "process",
};

static const char *const stop_meanings[] = {
#define STOP(NAME, name, is_complete, meaning) [STOP_##NAME] = meaning,
#include "../../abi/stops.def"
#undef STOP
};

static json_t *labels(const struct digest *digest)
{
	json_t *object = json_object();

	for (size_t i = 0; i < digest->meta.count; i++) {
		const struct meta_row *row = hash_item(&digest->meta, i);

		if (!strncmp(row->key, LABEL, strlen(LABEL)))
			json_object_set_new(object, row->key + strlen(LABEL),
					    json_string(row->value));
	}
	return object;
}

static json_t *session(const struct page_data *data)
{
	const struct digest *digest = data->digest;
	static const char *const texts[] = {"host", "kernel",  "machine", "tier", "command",
					    "kind", "signals", "filter",  "note"};
	json_t *object = json_pack(
		"{s:s, s:o, s:s, s:o, s:o, s:o, s:b, s:b}", "file", data->file ? data->file : "",
		"cpus", json_number(digest_meta_number(digest, "cpus")), "started_real_ns",
		digest_meta(digest, "started_real_ns"), "begin_ns",
		json_number(page_time(data, digest->begin_ns)), "duration_ns",
		json_number(digest_span(digest)), "labels", labels(digest), "is_slice",
		digest->is_slice, "is_killed", digest->is_killed);
	char shown[2048];

	json_object_set_new(object, "group_by", json_string(groups_by(digest)));
	process_filter_text(&digest->options->part, shown, sizeof(shown));
	json_object_set_new(object, "shown", json_string(shown));
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		json_object_set_new(object, texts[i], json_string(digest_meta(digest, texts[i])));
	return object;
}

static const char *kind_of(const char *name, int state)
{
	if (state_is_idle(state))
		return "idle";
	if (profile_state_fits("cpu", name))
		return "cpu";
	if (profile_state_fits("runq", name))
		return "runq";
	return profile_state_fits("blocked", name) ? "blocked" : "unattributed";
}

static json_t *states(const struct digest *digest)
{
	json_t *list = json_array();

	for (int i = 0; i < STATE_LIMIT; i++)
		if (i < STATE_COUNT || digest->all.ns[i] || digest->kernel.ns[i])
			json_array_append_new(
				list,
				json_pack("{s:i, s:s, s:s, s:s}", "id", i, "name",
					  digest->state_names[i], "meaning",
					  i < STATE_COUNT ? state_meanings[i]
							  : "a state that this dwell does not know",
					  "kind", kind_of(digest->state_names[i], i)));
	return list;
}

static json_t *kinds(void)
{
	json_t *list = json_array();

	for (u32 i = 0; i < PROFILE_KINDS; i++)
		json_array_append_new(list, json_string(profile_kind_name(i)));
	return list;
}

static json_t *look_names(void)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(looks); i++)
		json_array_append_new(list, json_string(looks[i]));
	return list;
}

static json_t *contexts(void)
{
	json_t *list = json_array();

	for (u32 i = 0; i < WAKER_KIND_COUNT; i++)
		json_array_append_new(list, json_string(context_name(i)));
	return list;
}

static json_t *stops(const struct digest *digest)
{
	json_t *list = json_array();

	for (u32 i = 0; i < PROFILE_STOPS; i++)
		json_array_append_new(
			list, json_pack("{s:s, s:b, s:s}", "name", digest->profile.stop_names[i],
					"complete", profile_stop_is_complete(i), "meaning",
					i < STOP_COUNT ? stop_meanings[i]
						       : "a stop that this dwell does not know"));
	return list;
}

static json_t *verdict(const struct digest *digest)
{
	json_t *list = json_array();
	struct verdict found;

	verdict_find(digest, &found);
	for (size_t i = 0; i < found.count; i++)
		if (*found.sentences[i])
			json_array_append_new(list, json_string(found.sentences[i]));
	return list;
}

static json_t *limits(const struct page_data *data)
{
	json_t *list = json_array();

	for (size_t i = 0; i < data->limit_count; i++) {
		const struct page_limit *limit = &data->limits[i];

		json_array_append_new(list,
				      json_pack("{s:s, s:o, s:o, s:o, s:s}", "part", limit->part,
						"rows", json_number(limit->rows), "limit",
						json_number(limit->limit), "left_out",
						json_number(limit->left_out), "text", limit->text));
	}
	return list;
}

static void put(struct part *part, const char *key, json_t *value)
{
	part_text(part, ",");
	part_string(part, key);
	part_text(part, ":");
	part_json(part, value);
}

int page_write_head(struct page_data *data, struct part *part)
{
	static const struct column windows[] = {
		COLUMN("begin_ns+", struct page_window, begin_ns),
		COLUMN("end_ns+", struct page_window, end_ns),
	};
	const struct digest *digest = data->digest;

	json_watch_memory();
	part_text(part, "{\"schema\":\"" SCHEMA "\"");
	put(part, "dwell", json_string(DWELL_VERSION));
	put(part, "session", session(data));
	put(part, "window_ns", json_number(data->window_ns));
	part_text(part, ",\"windows\":");
	part_columns(part, windows, ARRAY_SIZE(windows), data->windows, sizeof(struct page_window),
		     data->window_count);
	put(part, "states", states(digest));
	put(part, "kinds", kinds());
	put(part, "looks", look_names());
	put(part, "contexts", contexts());
	put(part, "stops", stops(digest));
	put(part, "trust", head_trust(data));
	put(part, "quality", json_quality(digest));
	put(part, "verdict", verdict(digest));
	put(part, "findings", head_findings(data));
	put(part, "marks", head_marks(data));
	put(part, "empty", head_empty(data));
	put(part, "run_again", head_run_again(data));
	put(part, "limits", limits(data)); /* last: the others add to them */
	part_text(part, "}");
	return json_has_lacked_memory() ? -ENOMEM : 0;
}

int page_write_strings(struct page_data *data, struct part *part)
{
	part_text(part, "{\"strings\":[\"\"");
	for (u32 i = 1; i < data->names.count; i++) {
		part_text(part, ",");
		part_string(part, strings_get(&data->names, i));
	}
	part_text(part, "]}");
	page_limit(data, "strings", data->names.count, PAGE_TEXT_MAX, data->names_left_out,
		   "names: they are empty");
	return data->names.was_short ? -ENOMEM : 0;
}
