// SPDX-License-Identifier: Apache-2.0
/* Who waited, for what, and who is to blame by time: the parts of sentences that rules share. */
#include <string.h>

#include "finding_wait.h"
#include "format.h"

#define ALL_SHARE 99.5 /* percent: it was the only one */

void finding_name(struct finding *finding, const char *evidence, const struct culprit *culprits,
		  size_t count, u64 whole, const char *base)
{
	for (size_t i = 0; i < count && i < NAMED_MAX; i++)
		if (percent(culprits[i].ns, whole) >= NAMED_SHARE)
			finding_evidence(finding, evidence, culprits[i].name,
					 percent(culprits[i].ns, whole), "%", base);
}

void finding_say_culprits(struct finding *finding, const struct culprit *culprits, size_t count,
			  u64 whole)
{
	u64 rest = whole;
	size_t said = 0;

	for (size_t i = 0; i < count && said < SAID_MAX; i++) {
		if (percent(culprits[i].ns, whole) < NAMED_SHARE)
			break;
		finding_say(finding, "%s%s", said++ ? ", " : "", ESCAPED(culprits[i].name));
		if (culprits[i].threads == 1 && culprits[i].tid &&
		    strncmp(culprits[i].name, "tid ", 4) != 0)
			finding_say(finding, " (%u)", culprits[i].tid);
		if (percent(culprits[i].ns, whole) < ALL_SHARE)
			finding_say(finding, " %s", SHARE(culprits[i].ns, whole));
		rest -= culprits[i].ns < rest ? culprits[i].ns : rest;
	}
	if (said && percent(rest, whole) >= NAMED_SHARE)
		finding_say(finding, ", other or not known %s", SHARE(rest, whole));
}

bool culprits_are_named(const struct culprit *culprits, size_t count, u64 whole)
{
	return count && percent(culprits[0].ns, whole) >= NAMED_SHARE;
}

/* Of waits that several files or calls share: the longest ones. */
void finding_say_objects(const struct wait_context *context)
{
	struct finding *finding = context->finding;
	size_t count, said = 0;
	const struct wait_part *part =
		wait_parts(context->waits, context->wait, ROLE_OBJECT, &count);

	for (size_t i = 0; i < count && i < NAMED_MAX; i++, part++) {
		const struct cause cause = {.call = (u16)part->more, .object = part->id};
		char text[CAUSE_BYTES], object[DIGEST_TEXT];

		if (percent(part->ns, context->wait->ns) < NAMED_SHARE)
			break;
		format_cause(context->digest, &cause, text, sizeof(text));
		format_object(context->digest, part->id, object, sizeof(object));
		if (*object)
			finding_evidence(finding, "object", object,
					 percent(part->ns, context->wait->ns), "%", BASE_WAIT);
		if (cause.call)
			finding_evidence(finding, "call",
					 digest_call_name(context->digest, cause.call, object,
							  sizeof(object)),
					 percent(part->ns, context->wait->ns), "%", BASE_WAIT);
		if (!*text || said >= SAID_MAX)
			continue;
		finding_say(finding, "%s%s", said++ ? ", " : ": ", ESCAPED(text));
		if (percent(part->ns, context->wait->ns) < ALL_SHARE)
			finding_say(finding, " %s", SHARE(part->ns, context->wait->ns));
	}
}

/*
 * "kv (pid 12): 6 threads waited 2.960 s (longest: worker-3 (13), 61 % of its time)", or of one
 * "worker-3 (13) of kv waited 1.830 s (61 % of its time)".
 */
void finding_say_who(const struct wait_context *context)
{
	const struct digest *digest = context->digest;
	struct finding *finding = context->finding;
	size_t count;
	const struct wait_part *part =
		wait_parts(context->waits, context->wait, ROLE_THREAD, &count);
	const struct thread *longest = &digest->threads[part->id];
	const char *share = SHARE(part->ns, thread_wall_ns(digest, longest));
	char who[DIGEST_TEXT], thread[DIGEST_TEXT];

	finding_subject_text(finding, who, sizeof(who));
	format_tid(digest, longest->tid, thread, sizeof(thread));
	if (longest->is_sum) {
		finding_say(finding, "%s waited %s", who, DURATION(context->wait->ns));
	} else if (count > 1) {
		finding_say(finding, "%s: %s threads waited %s (longest: %s, %s of its time)", who,
			    NUMBER(count), DURATION(context->wait->ns), thread, share);
	} else {
		finding_say(finding, "%s", thread);
		if (strcmp(longest->comm, finding->subject.comm) != 0)
			finding_say(finding, " of %s", ESCAPED(finding->subject.comm));
		finding_say(finding, " waited %s (%s of its time)", DURATION(context->wait->ns),
			    share);
	}
}

void finding_add_culprits(const struct wait_context *context, enum wait_role role,
			  const char *evidence, const char *before)
{
	struct finding *finding = context->finding;
	struct culprit culprits[CULPRITS_MAX];
	size_t count =
		wait_culprits(context->digest, context->waits, context->wait, role, culprits);
	u64 whole = context->wait->ns;

	finding_name(finding, evidence, culprits, count, whole, BASE_WAIT);
	if (!culprits_are_named(culprits, count, whole))
		return;
	finding_say(finding, "%s", before);
	finding_say_culprits(finding, culprits, count, whole);
}
