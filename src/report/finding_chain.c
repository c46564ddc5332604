// SPDX-License-Identifier: Apache-2.0
/* The longest chains of waits, as findings, and in the sentence of the wait that they explain. */
#include <string.h>

#include "chain_text.h"
#include "finding_wait.h"
#include "format.h"

#define TOLD_MAX       3
#define FOLLOWED_SHARE 80.0 /* percent of the wait: less is said */

static bool explains(const struct wait_context *context, const struct chain *chain)
{
	const struct digest *digest = context->digest;
	const struct wait *wait = context->wait;
	const struct thread *thread = &digest->threads[chain->thread];
	char object[DIGEST_TEXT];

	if (chain->state != wait->state ||
	    digest->processes[thread->process].group != wait->group ||
	    (wait->process && wait->process != 1 + thread->process))
		return false;
	format_object(digest, chain->object, object, sizeof(object));
	return !*wait->name || !strcmp(wait->name, object);
}

void finding_say_chain(const struct wait_context *context, struct findings *findings)
{
	for (size_t i = 0; i < findings->chain_count; i++) {
		struct chain *chain = &findings->chains[i];
		char text[CHAIN_TEXT] = "";

		if (!chain->links[0].part_count || !explains(context, chain))
			continue;
		chain_links_text(context->digest, chain, text);
		finding_say(context->finding, "; meanwhile");
		if (percent(chain->ns + chain->alike_ns, context->wait->ns) < FOLLOWED_SHARE) {
			u64 ns = chain->ns + chain->alike_ns;

			finding_evidence(context->finding, "followed", NULL, (double)ns, "ns",
					 NULL);
			finding_say(context->finding, ", in the part that chains cover (%s),",
				    DURATION(ns));
		}
		finding_say(context->finding, " %s", text);
		chain->is_told = true;
		return;
	}
}

/* Who waits for a child, or for work, loses no time. */
static enum severity severity_of(const struct digest *digest, const struct chain *chain, u64 ns)
{
	if (state_is_idle(chain->state) || chain->state == STATE_BLOCKED_CHILD ||
	    chain->state == STATE_BLOCKED_FORK)
		return SEVERITY_INFO;
	return finding_severity(digest, ns);
}

void find_chains(const struct digest *digest, struct findings *findings)
{
	for (size_t i = 0; i < findings->chain_count && i < TOLD_MAX; i++) {
		const struct chain *chain = &findings->chains[i];
		const struct thread *thread = &digest->threads[chain->thread];
		u64 ns = chain->ns + chain->alike_ns;
		struct finding *finding =
			finding_add(findings, "chain", severity_of(digest, chain, ns), ns);
		char object[DIGEST_TEXT];

		if (!finding)
			break;
		finding->is_told = chain->is_told;
		finding_set_thread(finding, digest, thread);
		finding_evidence(finding, "waited", NULL, (double)chain->ns, "ns", NULL);
		finding_evidence(finding, "all_threads", NULL, (double)ns, "ns", NULL);
		format_object(digest, chain->object, object, sizeof(object));
		if (*object)
			finding_evidence(finding, "object", object, (double)chain->ns, "ns", NULL);
		for (size_t l = 0; l < chain->link_count; l++)
			finding_evidence(finding, "link", chain->links[l].comm,
					 (double)chain->links[l].ns, "ns", NULL);
		finding_say(finding, "%s", chain->sentence);
	}
}
