// SPDX-License-Identifier: Apache-2.0
#include "verdict.h"

#include <string.h>

#include "../base/text.h"
#include "format.h"
#include "text.h"

bool digest_is_of_one(const struct digest *digest)
{
	return *digest_meta(digest, "command") ||
	       session_part_is_filtered(&digest->options->part) ||
	       digest->options->part.tid_count || !strncmp(digest_meta(digest, "filter"), "pid", 3);
}

/* What the report opens with: the command, the process, or the host's CPUs. */
static void open_with(const struct digest *digest, char *text, size_t size)
{
	const struct findings *findings = digest->findings;
	const struct finding *host = findings_by_id(findings, "host-cpu");
	const struct finding *top = findings_by_id(findings, "cpu-top");
	const struct finding *subject = findings_by_id(findings, "command");

	*text = '\0';
	if (!subject)
		subject = findings_by_id(findings, "process");
	if (host && subject && subject->subject.processes && !digest_is_of_one(digest)) {
		format_add(text, size, "%s", host->sentence);
		if (top)
			format_add(text, size, " %s", top->sentence);
		return;
	}
	if (subject)
		format_add(text, size, "%s", subject->sentence);
}

bool finding_is_opening(const struct finding *finding)
{
	return !strcmp(finding->id, "host-cpu") || !strcmp(finding->id, "cpu-top") ||
	       !strcmp(finding->id, "command") || !strcmp(finding->id, "process");
}

static bool has_id(const struct verdict *verdict, const char *id)
{
	for (size_t i = 1; i < verdict->count; i++)
		if (!strcmp(verdict->of[i]->id, id))
			return true;
	return false;
}

void verdict_find(const struct digest *digest, struct verdict *ret_verdict)
{
	const struct findings *findings = digest->findings;

	*ret_verdict = (struct verdict){.count = 1};
	open_with(digest, ret_verdict->sentences[0], sizeof(ret_verdict->sentences[0]));
	for (size_t i = 0; i < findings->count && ret_verdict->count < SENTENCES_MAX; i++) {
		const struct finding *finding = &findings->of[i];

		if (finding->severity == SEVERITY_INFO || finding->is_told ||
		    finding_is_opening(finding) || has_id(ret_verdict, finding->id))
			continue;
		ret_verdict->of[ret_verdict->count] = finding;
		text_copy(ret_verdict->sentences[ret_verdict->count++], SENTENCE_BYTES,
			  finding->sentence);
	}
}
