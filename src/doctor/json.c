// SPDX-License-Identifier: Apache-2.0
/*
 * The report as JSON, schema "dwell.doctor/1": docs/doctor.schema.json describes it.
 */
#include <string.h>

#include "../base/clock.h"
#include "../base/version.h"
#include "doctor.h"

static const char *const level_names[] = {
	[CHECK_OK] = "ok",
	[CHECK_NOTE] = "note",
	[CHECK_BAD] = "bad",
};

static json_t *text_or_null(const char *text)
{
	return text && text[0] ? json_string(text) : json_null();
}

/* No memory: better no rows than some. */
static json_t *add_row(json_t *rows, json_t *row)
{
	if (!json_array_append_new(rows, row))
		return rows;
	json_decref(rows);
	return NULL;
}

json_t *doctor_checks_to_json(const struct check *checks, size_t count)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < count; i++)
		rows = add_row(rows,
			       json_pack("{s:s, s:s, s:s, s:o}", "name", checks[i].name, "level",
					 level_names[checks[i].level], "text", checks[i].text,
					 "remedy", text_or_null(checks[i].remedy)));
	return rows;
}

static json_t *hazards_to_json(const struct facts *facts)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < hazard_count; i++) {
		const struct hazard *hazard = hazard_at(i);

		rows = add_row(rows, json_pack("{s:s, s:b, s:s, s:s, s:s}", "name", hazard->name,
					       "applies", (int)hazard_applies(hazard, facts),
					       "kernels", hazard->kernels, "what", hazard->what,
					       "guard", hazard->guard));
	}
	return rows;
}

static json_t *cause_to_json(const struct finding *finding)
{
	const struct cause *cause = &finding->cause;

	if (cause->id == CAUSE_NONE)
		return json_null();
	return json_pack("{s:s, s:s, s:s, s:o, s:o}", "id", cause_names[cause->id], "text",
			 cause->text, "remedy", cause->remedy, "errno",
			 text_or_null(strerrorname_np(finding->failure.err)), "excerpt",
			 text_or_null(finding->failure.excerpt));
}

static json_t *finding_to_json(const struct finding *finding)
{
	const struct feature *feature = finding->feature;
	bool degraded = finding->status == STATUS_DEGRADED;

	return json_pack("{s:s, s:s, s:s, s:s, s:b, s:o, s:o, s:o}", "name", feature->name, "group",
			 feature->group, "status", status_names[finding->status], "gate",
			 gate_names[finding->gate], "core", (int)feature->core, "loses",
			 finding->status == STATUS_OK ? json_null() : json_string(feature->loses),
			 "instead", degraded ? text_or_null(feature->instead) : json_null(),
			 "cause", cause_to_json(finding));
}

static json_t *hooks_to_json(const char *hooks)
{
	json_t *rows = json_array();

	while (*hooks) {
		size_t length = strcspn(hooks, " ");

		rows = add_row(rows, json_stringn(hooks, length));
		hooks += length + (hooks[length] == ' ');
	}
	return rows;
}

static json_t *signal_to_json(const struct signal_finding *finding)
{
	const struct signal_view *view = finding->signal->view;
	const struct cause *cause = &finding->cause;

	return json_pack("{s:s, s:s, s:b, s:s, s:o, s:s, s:o, s:o, s:o}", "name", finding->name,
			 "status", status_names[finding->status], "tried", (int)finding->has_target,
			 "cost", cost_names[view->cost], "price", text_or_null(view->price),
			 "about", finding->signal->about, "hooks", hooks_to_json(finding->hooks),
			 "refused", text_or_null(finding->refused), "cause",
			 cause->id == CAUSE_NONE
				 ? json_null()
				 : json_pack("{s:s, s:s, s:s}", "id", cause_names[cause->id],
					     "text", cause->text, "remedy", cause->remedy));
}

static json_t *signals_to_json(const struct doctor_report *report)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < report->signal_count; i++)
		rows = add_row(rows, signal_to_json(&report->signals[i]));
	return rows;
}

static json_t *pipeline_to_json(const struct health *health)
{
	json_t *lost = json_object();

	for (int i = 0; i < LOSS_COUNT; i++)
		json_object_set_new(lost, loss_names[i], json_integer((json_int_t)health->lost[i]));
	return json_pack("{s:I, s:I, s:I, s:o, s:I, s:I, s:I}", "sent", (json_int_t)health->sent,
			 "processed", (json_int_t)health->processed, "coalesced",
			 (json_int_t)health->coalesced, "lost", lost, "queue_bytes",
			 (json_int_t)health->queue_bytes, "queue_high_water_bytes",
			 (json_int_t)health->queue_high_water, "latency_p99_ns",
			 (json_int_t)health->latency_p99_ns);
}

static json_t *summary_to_json(const struct doctor_report *report)
{
	json_int_t counts[STATUS_COUNT] = {0};

	for (size_t i = 0; i < report->finding_count; i++)
		counts[report->findings[i].status]++;
	return json_pack("{s:I, s:I, s:I}", status_names[STATUS_OK], counts[STATUS_OK],
			 status_names[STATUS_DEGRADED], counts[STATUS_DEGRADED],
			 status_names[STATUS_UNAVAILABLE], counts[STATUS_UNAVAILABLE]);
}

json_t *doctor_to_json(const struct doctor_report *report)
{
	json_t *findings = json_array();
	json_t *root;

	for (size_t i = 0; i < report->finding_count; i++)
		findings = add_row(findings, finding_to_json(&report->findings[i]));
	root = json_pack(
		"{s:s, s:s, s:{s:s, s:s}, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "schema",
		"dwell.doctor/1", "version", DWELL_VERSION, "kernel", "release",
		report->facts.host.release, "arch", report->facts.host.machine, "core_works",
		(int)report->core_works, "summary", summary_to_json(report), "environment",
		doctor_checks_to_json(report->environment, report->environment_count), "hazards",
		hazards_to_json(&report->facts), "features", findings, "signals",
		signals_to_json(report), "pipeline", pipeline_to_json(&report->pipeline), "took_ns",
		(json_int_t)report->took_ns);
	if (!root || !report->host_count ||
	    !json_object_set_new(root, "host",
				 doctor_checks_to_json(report->host, report->host_count)))
		return root;
	json_decref(root);
	return NULL;
}
