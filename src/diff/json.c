// SPDX-License-Identifier: Apache-2.0
/* A comparison for programs: docs/diff.schema.json. */
#include <errno.h>
#include <jansson.h>
#include <math.h>

#include "../model/profile.h"
#include "../model/view.h"
#include "../store/process_filter.h"
#include "show.h"

static json_t *real_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *text_or_null(const struct diff *diff, u32 text)
{
	return text ? json_string(diff_text(diff, text)) : json_null();
}

static json_t *json_run(const struct diff_run *run)
{
	return json_pack(
		"{s:s, s:s, s:I, s:I, s:f, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:f}", "side",
		run->side ? "B" : "A", "name", run->name, "windows", (json_int_t)run->window_count,
		"begin_ns",
		(json_int_t)(run->begin_ns > run->started_ns ? run->begin_ns - run->started_ns : 0),
		"seconds", (double)(run->end_ns - run->begin_ns) / 1e9, "kernel", run->kernel,
		"host", run->host, "tier", run->tier, "freq", (json_int_t)run->freq, "losses",
		(json_int_t)run->losses, "steps", (json_int_t)run->steps, "samples",
		(json_int_t)run->samples, "incomplete_stacks",
		run->samples ? (double)run->incomplete / (double)run->samples : 0.0);
}

static const char *unit_name(const struct diff_line *line)
{
	static const char *const units[] = {
		[UNIT_NS] = "ns", [UNIT_BYTES] = "bytes", [UNIT_COUNT] = "count"};

	if (line->key.measure == DIFF_TIMES)
		return "count";
	return line->key.unit < 3 ? units[line->key.unit] : "ns";
}

static bool is_sampled(const struct diff_line *line)
{
	return line->key.table == DIFF_FUNCTION || line->key.table == DIFF_STACK;
}

/* Of both sides, of a thread's line. */
static json_t *sides_or_null(const struct diff_line *line, const double of[2])
{
	return line->key.table == DIFF_THREAD ? json_pack("[f, f]", of[0], of[1]) : json_null();
}

/* As sentences name it. */
static json_t *label_of(const struct diff *diff, const struct diff_line *line)
{
	char label[SHOW_LABEL_BYTES];

	show_label(diff, line, label, sizeof(label));
	return json_string(label);
}

static json_t *json_line(const struct diff *diff, const struct diff_line *line)
{
	bool is_series = line->key.table == DIFF_COUNT || line->key.table == DIFF_LATENCY;
	json_t *json = json_pack(
		"{s:s, s:o, s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "table",
		diff_table_names[line->key.table], "label", label_of(diff, line), "measure",
		diff_measure_names[line->key.measure], "unit", unit_name(line), "is_per_work",
		!diff_is_value(line), "name", text_or_null(diff, line->key.name), "signal",
		is_series ? text_or_null(diff, line->key.service) : json_null(), "service",
		is_series ? json_null() : text_or_null(diff, line->key.service), "process",
		text_or_null(diff, line->key.process), "module",
		text_or_null(diff, line->key.module), "kind",
		is_sampled(line) ? json_string(profile_kind_name(line->key.kind)) : json_null());
	json_t *numbers = json_pack(
		"{s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:f, s:f, s:f, s:I, s:s, s:s, "
		"s:o, s:o, s:o}",
		"a", line->rate[0], "b", line->rate[1], "effect", line->effect, "low", line->low,
		"high", line->high, "relative", real_or_null(line->relative), "relative_low",
		real_or_null(line->relative_low), "relative_high",
		real_or_null(line->relative_high), "mde", real_or_null(line->mde), "relative_mde",
		line->scale > 0 ? real_or_null(line->mde / line->scale) : json_null(), "bound",
		line->bound, "p", line->p, "cost_ns", line->cost, "block_windows",
		(json_int_t)line->block, "verdict", diff_verdict_names[line->verdict], "reason",
		diff_reason_names[line->reason], "onset_s",
		line->onset_s >= 0 ? json_real(line->onset_s) : json_null(), "wait",
		sides_or_null(line, line->wait), "cpu", sides_or_null(line, line->cpu));
	bool is_whole = json && numbers && !json_object_update(json, numbers);

	json_decref(numbers);
	if (is_whole)
		return json;
	json_decref(json);
	return NULL;
}

/* The array takes what was made; NULL is noted. */
static void append(json_t *array, json_t *value, bool *is_short)
{
	if (!value || json_array_append_new(array, value))
		*is_short = true;
}

int diff_print_json(const struct diff *diff, FILE *out)
{
	json_t *runs = json_array(), *warnings = json_array(), *verdict = json_array();
	json_t *lines = json_array(), *all;
	char filter[DIFF_TEXT_BYTES];
	bool is_short = !runs || !warnings || !verdict || !lines;
	int err;

	for (size_t i = 0; !is_short && i < diff->run_count; i++)
		append(runs, json_run(&diff->runs[i]), &is_short);
	for (size_t i = 0; !is_short && i < diff->warning_count; i++)
		append(warnings,
		       json_pack("{s:b, s:s}", "is_refusal", diff->warnings[i].is_refusal, "text",
				 diff->warnings[i].text),
		       &is_short);
	for (size_t i = 0; !is_short && i < diff->sentence_count; i++)
		append(verdict, json_string(diff->sentences[i]), &is_short);
	for (size_t i = 0; !is_short && i < diff->order_count; i++)
		append(lines, json_line(diff, diff->order[i]), &is_short);
	process_filter_text(&diff->options.processes, filter, sizeof(filter));
	all = json_pack(
		"{s:s, s:s, s:s*, s:s, s:o, s:o, s:o, s:{s:b, s:f, s:f, s:f, s:f, s:f, s:f, s:f, "
		"s:f, s:f, s:I}, "
		"s:{s:I, s:I, s:I}, s:o}",
		"schema", "dwell.diff/1", "per", diff->options.per.unit, "filter",
		*filter ? filter : NULL, "group_by", process_keys[diff->options.group_by].name,
		"runs", runs, "warnings", warnings, "verdict", verdict, "method", "whole_runs",
		diff->whole_runs, "floor", diff->floor, "slower", diff->speed.slower, "slower_low",
		diff->speed.low, "slower_high", diff->speed.high, "bound", diff->bound,
		"material_ns", diff->material, "false_discovery_rate", STATS_FALSE_DISCOVERY,
		"threshold_p", diff->threshold, "wall_ns_per_work", diff->wall_per_work, "tested",
		(json_int_t)diff->tested, "summary", "changed",
		(json_int_t)diff->by_verdict[DIFF_CHANGED], "unchanged",
		(json_int_t)diff->by_verdict[DIFF_UNCHANGED], "inconclusive",
		(json_int_t)diff->by_verdict[DIFF_INCONCLUSIVE], "lines", lines);
	if (!all || is_short) {
		json_decref(all);
		return -ENOMEM;
	}
	/* In ASCII: what is in a name must not move a cursor, nor turn a line round. */
	err = json_dumpf(all, out, JSON_INDENT(1) | JSON_ENSURE_ASCII) ? -ENOMEM : 0;
	fputc('\n', out);
	json_decref(all);
	return ferror(out) ? 0 : err; /* seen again when it is flushed */
}
