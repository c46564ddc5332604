// SPDX-License-Identifier: Apache-2.0
/* Series and what goes with them, for programs. */
#include <inttypes.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/utf8.h"
#include "format.h"
#include "json.h"

#define TEXT_BYTES 8192 /* of a stack */

static const char *const unit_names[] = {
	[UNIT_NS] = "ns", [UNIT_BYTES] = "bytes", [UNIT_COUNT] = "count"};
static const char *const unit_suffixes[] = {
	[UNIT_NS] = "_ns", [UNIT_BYTES] = "_bytes", [UNIT_COUNT] = ""};

static void set(json_t *object, const char *name, const char *suffix, json_t *value)
{
	char key[96];

	snprintf(key, sizeof(key), "%s%s", name, suffix);
	json_object_set_new(object, key, value);
}

static json_t *hex(u64 value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, (uint64_t)value);
	return json_string(text);
}

/* A field as people read it, and where that is not all of it, the number too. */
static void add_field(const struct digest *digest, const struct measured *of,
		      const struct series_field *field, u64 value, json_t *row)
{
	char text[TEXT_BYTES];

	if (field->kind == FIELD_NONE)
		return;
	series_field_text(digest, of, field, value, text, sizeof(text));
	set(row, field->name, "",
	    field->kind == FIELD_NUMBER || (field->kind == FIELD_CPU && value != SERIES_NO_CPU)
		    ? json_number(value)
		    : json_text_or_null(text));
	switch (field->kind) {
	case FIELD_OBJECT:
	case FIELD_ADDRESS:
	case FIELD_LABEL:
		set(row, field->name, "_id", hex(value));
		break;
	case FIELD_STACK:
		set(row, field->name, "_id", value ? json_id(value) : json_null());
		break;
	case FIELD_DEVICE:
	case FIELD_SIZE:
	case FIELD_ERRNO:
		set(row, field->name, "_id", json_number(value));
		break;
	default:
		break;
	}
}

static void add_key(const struct digest *digest, const struct measured *of,
		    const struct series_key *key, json_t *row)
{
	const struct signal_view *view = of->view;

	json_object_set_new(row, "pid", key->tgid ? json_number(key->tgid) : json_null());
	json_object_set_new(row, "comm",
			    json_text_or_null(series_comm(digest, key->tgid, key->start_ns)));
	if (series_is_other(key)) {
		json_object_set_new(row, "is_other", json_true());
		if (key->detail != SERIES_ANY_DETAIL)
			add_field(digest, of, &view->detail, key->detail, row);
		return;
	}
	add_field(digest, of, &view->detail, key->detail, row);
	add_field(digest, of, &view->object, key->object, row);
	add_field(digest, of, &view->more, key->more, row);
}

static json_t *buckets_to_json(const struct hist *hist)
{
	json_t *buckets = json_array();

	for (u32 i = 0; i < HIST_BUCKETS; i++)
		if (hist->buckets[i])
			json_array_append_new(buckets,
					      json_pack("[o, o, o]", json_number(hist_least(i)),
							json_number(hist_most(i)),
							json_number(hist->buckets[i])));
	return buckets;
}

static void add_values(const struct hist *hist, const char *suffix, json_t *row)
{
	static const struct {
		const char *name;
		double share;
	} percentiles[] = {
		{"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p999", 0.999}};

	json_object_set_new(row, "count", json_number(hist->count));
	set(row, "sum", suffix, json_number(hist->sum));
	for (size_t i = 0; i < ARRAY_SIZE(percentiles); i++)
		set(row, percentiles[i].name, suffix,
		    json_number(hist_percentile(hist, percentiles[i].share)));
	set(row, "max", suffix, json_number(hist->max));
}

static json_t *series_to_json(const struct digest *digest, const struct measured *of,
			      const struct series_row *series)
{
	const struct series_kind *kind = &of->view->kinds[series->key.kind];
	json_t *row = json_pack("{s:s, s:s}", "kind", kind->name, "unit", unit_names[kind->unit]);

	if (!row)
		return NULL;
	add_key(digest, of, &series->key, row);
	add_values(&series->hist, unit_suffixes[kind->unit], row);
	for (u32 i = 0; i < SERIES_SUMS; i++)
		if (view_bytes(of->view, series->key.kind, i))
			set(row, of->view->bytes[i], "_bytes", json_number(series->sums[i]));
	json_object_set_new(row, "unmatched",
			    json_pack("{s:o, s:o, s:o}", "orphan_start",
				      json_number(series->orphan_starts), "orphan_end",
				      json_number(series->orphan_ends), "expired",
				      json_number(series->expired)));
	if (digest->options->histograms)
		json_object_set_new(row, "buckets", buckets_to_json(&series->hist));
	return row;
}

static json_t *slow_to_json(const struct digest *digest, const struct measured *of,
			    const struct slow_row *slow)
{
	static const char *const part_names[] = {
#define PART(NAME, name) #name "_ns",
		SLOW_PARTS(PART)
#undef PART
	};
	u64 end_ns = slow->ts_ns > digest->start_ns ? slow->ts_ns - digest->start_ns : 0;
	json_t *parts = json_object(),
	       *row = json_pack("{s:s, s:s, s:o, s:o, s:o}", "signal", of->name, "kind",
				of->view->kinds[slow->key.kind].name, "end_ns", json_number(end_ns),
				"tid", json_number(slow->tid), "ns", json_number(slow->ns));
	u64 known = 0;
	char stack[TEXT_BYTES];

	if (!row)
		return NULL;
	add_key(digest, of, &slow->key, row);
	for (int i = 0; i < 2; i++)
		if (of->view->value_names[i])
			json_object_set_new(row, of->view->value_names[i],
					    json_number(slow->value[i]));
	for (int i = 0; i < SLOW_PART_COUNT; i++) {
		known |= slow->part[i];
		json_object_set_new(parts, part_names[i], json_number(slow->part[i]));
	}
	json_object_set(row, "parts", known ? parts : json_null());
	json_decref(parts);
	series_stack_text(digest, slow->stack, PROFILE_STEPS_MAX, stack, sizeof(stack));
	json_object_set_new(row, "stack", json_text_or_null(stack));
	json_object_set_new(row, "stack_id", slow->stack ? json_id(slow->stack) : json_null());
	return row;
}

static bool ends_in(const char *name, const char *suffix)
{
	size_t length = strlen(name), end = strlen(suffix);

	return length >= end && !strcmp(name + length - end, suffix);
}

static void add_cell(const struct digest *digest, const char *name, const struct list_cell *cell,
		     json_t *row)
{
	char text[TEXT_BYTES];

	if (cell->kind == LIST_NUMBER && ends_in(name, "_stack")) {
		series_stack_text(digest, (u64)cell->number, PROFILE_STEPS_MAX, text, sizeof(text));
		set(row, name, "", json_text_or_null(text));
		set(row, name, "_id", cell->number ? json_id((u64)cell->number) : json_null());
	} else if (cell->kind == LIST_NUMBER && ends_in(name, "_object")) {
		format_object(digest, (u64)cell->number, text, sizeof(text));
		set(row, name, "", json_text_or_null(text));
		set(row, name, "_id", hex((u64)cell->number));
	} else if (cell->kind == LIST_NUMBER) {
		set(row, name, "", json_integer(cell->number));
	} else if (cell->kind == LIST_REAL) {
		set(row, name, "", json_real(cell->real));
	} else {
		set(row, name, "", cell->kind == LIST_TEXT ? json_string(cell->text) : json_null());
	}
}

static json_t *list_to_json(const struct digest *digest, const struct list_rows *list)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < list->row_count; i++) {
		json_t *row = json_object();

		for (size_t c = 0; c < list->column_count; c++)
			add_cell(digest, list->columns[c], &list->rows[i][c], row);
		json_array_append_new(rows, row);
	}
	return rows;
}

static json_t *lists_to_json(const struct digest *digest)
{
	json_t *all = json_object();

	for (size_t i = 0; i < digest->signals.count; i++) {
		const struct measured *of = &digest->signals.of[i];
		json_t *lists = of->view->list_count ? json_object() : NULL;

		for (size_t l = 0; l < of->view->list_count; l++)
			json_object_set_new(lists, of->view->lists[l].name,
					    list_to_json(digest, &of->lists[l]));
		if (lists)
			json_object_set_new(all, of->name, lists);
	}
	return all;
}

static json_t *remarks_to_json(const struct digest *digest)
{
	json_t *all = json_object();

	for (size_t i = 0; i < digest->signals.count; i++) {
		const struct measured *of = &digest->signals.of[i];
		json_t *remarks = json_array();

		for (size_t r = 0; r < of->remarks.count; r++)
			json_array_append_new(remarks, json_string(of->remarks.text[r]));
		json_object_set_new(all, of->name, remarks);
	}
	return all;
}

static json_t *share_to_json(const struct measured *of)
{
	u64 left_out = 0;

	for (size_t i = 0; i < of->view->kind_count; i++)
		left_out += of->measures[i].left_out;
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "signal", of->name,
			 "places", json_number(of->share.limit), "used",
			 json_number(of->share.used), "folded", json_number(of->share.folded),
			 "lost", json_number(of->share.lost), "unpaired",
			 json_number(of->share.unpaired), "slow_unspoken",
			 json_number(of->share.slow_unspoken), "series_left_out",
			 json_number(left_out), "slow_left_out", json_number(of->slow_left_out));
}

void json_write_signals(struct json_writer *writer, const struct digest *digest)
{
	const struct signals *signals = &digest->signals;

	json_begin(writer, "signals", '{');
	for (size_t i = 0; i < signals->count; i++) {
		const struct measured *of = &signals->of[i];

		json_begin(writer, of->name, '[');
		for (size_t r = 0; !writer->err && r < of->row_count; r++)
			json_write(writer, NULL, series_to_json(digest, of, of->rows[r]),
				   JSON_COMPACT);
		json_end(writer, ']');
	}
	json_end(writer, '}');
	json_begin(writer, "slow", '[');
	for (size_t i = 0; i < signals->count; i++)
		for (size_t s = 0; !writer->err && s < signals->of[i].slow_count; s++)
			json_write(writer, NULL,
				   slow_to_json(digest, &signals->of[i], &signals->of[i].slow[s]),
				   JSON_COMPACT);
	json_end(writer, ']');
	json_write(writer, "lists", lists_to_json(digest), JSON_INDENT(1));
	json_write(writer, "remarks", remarks_to_json(digest), JSON_INDENT(1));
	json_begin(writer, "shares", '[');
	for (size_t i = 0; i < signals->count; i++)
		json_write(writer, NULL, share_to_json(&signals->of[i]), JSON_COMPACT);
	json_end(writer, ']');
}
