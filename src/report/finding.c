// SPDX-License-Identifier: Apache-2.0
/* Findings as a list: made by rules, put in order, and kept. */
#include "finding.h"

#include <stdarg.h>
#include <string.h>

#include "../base/text.h"
#include "format.h"

#define PROBLEM_SHARE 5.0 /* percent of the time shown, of one thread */
#define NOTICE_SHARE  0.5

const char *severity_name(enum severity severity)
{
	static const char *const names[] = {
		[SEVERITY_INFO] = "info",
		[SEVERITY_NOTICE] = "notice",
		[SEVERITY_PROBLEM] = "problem",
	};

	return names[severity];
}

enum severity finding_severity(const struct digest *digest, u64 ns)
{
	double share = percent(ns, digest_span(digest));

	return share >= PROBLEM_SHARE  ? SEVERITY_PROBLEM
	       : share >= NOTICE_SHARE ? SEVERITY_NOTICE
				       : SEVERITY_INFO;
}

struct finding *finding_add(struct findings *findings, const char *id, enum severity severity,
			    u64 weight_ns)
{
	struct finding *finding;

	if (findings->count >= FINDINGS_MAX) {
		findings->left_out++;
		return NULL;
	}
	finding = &findings->of[findings->count++];
	*finding = (struct finding){.id = id, .severity = severity, .weight_ns = weight_ns};
	return finding;
}

void finding_set_process(struct finding *finding, const struct process *process)
{
	finding->subject.pid = process->pid;
	finding->subject.processes = 1;
	memcpy(finding->subject.comm, process->comm, sizeof(finding->subject.comm));
	memcpy(finding->subject.service, process->service, sizeof(finding->subject.service));
}

void finding_set_group(struct finding *finding, const struct digest *digest,
		       const struct group *group)
{
	finding_set_process(finding, &digest->processes[group->busiest]);
	finding->subject.processes = group->processes;
	if (group->processes > 1)
		finding->subject.pid = 0;
}

void finding_set_thread(struct finding *finding, const struct digest *digest,
			const struct thread *thread)
{
	finding_set_process(finding, &digest->processes[thread->process]);
	finding->subject.tid = thread->tid;
	memcpy(finding->subject.comm, thread->comm, sizeof(finding->subject.comm));
}

void finding_evidence(struct finding *finding, const char *name, const char *what, double value,
		      const char *unit, const char *base)
{
	struct evidence *evidence;

	if (!finding || finding->evidence_count >= EVIDENCE_MAX)
		return;
	evidence = &finding->evidence[finding->evidence_count++];
	evidence->name = name;
	text_copy(evidence->what, sizeof(evidence->what), what ? what : "");
	evidence->value = value;
	evidence->unit = unit;
	evidence->base = base;
}

void finding_say(struct finding *finding, const char *format, ...)
{
	size_t length = finding ? strlen(finding->sentence) : 0;
	va_list arguments;

	if (!finding)
		return;
	va_start(arguments, format);
	vsnprintf(finding->sentence + length, SENTENCE_BYTES - length, format, arguments);
	va_end(arguments);
}

void finding_advise(struct finding *finding, const char *format, ...)
{
	va_list arguments;

	if (!finding)
		return;
	va_start(arguments, format);
	vsnprintf(finding->action, ACTION_BYTES, format, arguments);
	va_end(arguments);
}

void finding_subject_text(const struct finding *finding, char *buf, size_t size)
{
	const struct subject *subject = &finding->subject;

	*buf = '\0';
	format_add(buf, size, "%s", ESCAPED(*subject->comm ? subject->comm : "(no name)"));
	if (subject->tid)
		format_add(buf, size, " (%u)", subject->tid);
	else if (subject->processes > 1)
		format_add(buf, size, " (%s processes)", NUMBER(subject->processes));
	else if (subject->pid)
		format_add(buf, size, " (pid %u)", subject->pid);
}

const struct finding *findings_by_id(const struct findings *findings, const char *id)
{
	for (size_t i = 0; findings && i < findings->count; i++)
		if (!strcmp(findings->of[i].id, id))
			return &findings->of[i];
	return NULL;
}
