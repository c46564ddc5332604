// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "finding.h"
#include "format.h"
#include "json.h"

/* A text, or null. */
/* Times and counts are whole numbers. */
static json_t *number_of(double value)
{
	return value == floor(value) && fabs(value) < 9e15 ? json_integer((json_int_t)value)
							   : json_real(value);
}

static json_t *evidence_to_json(const struct finding *finding)
{
	json_t *list = json_array();

	for (size_t i = 0; i < finding->evidence_count; i++) {
		const struct evidence *evidence = &finding->evidence[i];

		json_array_append_new(list,
				      json_pack("{s:s, s:o, s:o, s:s, s:o}", "name", evidence->name,
						"what", json_text_or_null(evidence->what), "value",
						number_of(evidence->value), "unit", evidence->unit,
						"base", json_text_or_null(evidence->base)));
	}
	return list;
}

static json_t *id_or_null(u32 id)
{
	return id ? json_number(id) : json_null();
}

json_t *json_finding(const struct finding *finding)
{
	const struct subject *subject = &finding->subject;

	return json_pack(
		"{s:s, s:s, s:{s:o, s:o, s:o, s:o, s:o}, s:o, s:s, s:o}", "id", finding->id,
		"severity", severity_name(finding->severity), "subject", "pid",
		id_or_null(subject->pid), "tid", id_or_null(subject->tid), "comm",
		json_text_or_null(subject->comm), "service", json_text_or_null(subject->service),
		"processes", json_number(subject->processes), "evidence", evidence_to_json(finding),
		"sentence", finding->sentence, "action", json_text_or_null(finding->action));
}

static json_t *part_to_json(const struct digest *digest, const struct link_part *part)
{
	char object[DIGEST_TEXT + 32], buf[64];

	format_object(digest, part->object, object, sizeof(object));
	return json_pack("{s:s, s:o, s:o, s:o, s:o}", "state", digest->state_names[part->state],
			 "call",
			 json_text_or_null(digest_call_name(digest, part->call, buf, sizeof(buf))),
			 "object", json_text_or_null(object), "culprit", id_or_null(part->culprit),
			 "ns", json_number(part->ns));
}

static json_t *link_to_json(const struct digest *digest, const struct chain_link *link)
{
	json_t *parts = json_array();

	for (size_t i = 0; i < link->part_count; i++)
		json_array_append_new(parts, part_to_json(digest, &link->parts[i]));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "pid", id_or_null(link->pid), "tid",
			 id_or_null(link->tid), "comm", json_text_or_null(link->comm), "ns",
			 json_number(link->ns), "parts", parts, "other_ns",
			 json_number(link->other_ns), "unknown_ns", json_number(link->unknown_ns));
}

static json_t *chain_to_json(const struct digest *digest, const struct chain *chain)
{
	const struct thread *thread = &digest->threads[chain->thread];
	char object[DIGEST_TEXT + 32];
	json_t *links = json_array();

	for (size_t i = 0; i < chain->link_count; i++)
		json_array_append_new(links, link_to_json(digest, &chain->links[i]));
	format_object(digest, chain->object, object, sizeof(object));
	return json_pack("{s:{s:o, s:o, s:o}, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "thread",
			 "pid", json_number(thread->pid), "tid", json_number(thread->tid), "comm",
			 json_text_or_null(thread->comm), "state",
			 digest->state_names[chain->state], "object", json_text_or_null(object),
			 "ns", json_number(chain->ns), "links", links, "unknown_ns",
			 json_number(chain->links[0].unknown_ns), "alike",
			 json_number(chain->alike), "alike_ns", json_number(chain->alike_ns),
			 "sentence", chain->sentence);
}

void json_write_findings(struct json_writer *writer, const struct digest *digest)
{
	const struct findings *findings = digest->findings;

	json_begin(writer, "findings", '[');
	for (size_t i = 0; !writer->err && i < findings->count; i++)
		json_write(writer, NULL, json_finding(&findings->of[i]), JSON_COMPACT);
	json_end(writer, ']');
	json_begin(writer, "chains", '[');
	for (size_t i = 0; !writer->err && i < findings->chain_count; i++)
		json_write(writer, NULL, chain_to_json(digest, &findings->chains[i]), JSON_COMPACT);
	json_end(writer, ']');
}
