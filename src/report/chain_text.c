// SPDX-License-Identifier: Apache-2.0
#include "chain_text.h"

#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "waits.h"

#define SAID_SHARE 5.0 /* percent: less is not said */
#define SAID_MAX   3   /* parts of a link */

static bool is_on_cpu(u8 state)
{
	return state >= STATE_CPU && state <= STATE_CPU_SOFTIRQ;
}

static bool is_in_queue(u8 state)
{
	return state >= STATE_RUNQ_WOKEN && state <= STATE_RUNQ_THROTTLED;
}

void chain_add_what(const struct digest *digest, u8 state, u16 call, u64 object, char *text)
{
	const struct cause cause = {.call = call, .object = object};
	char what[CAUSE_BYTES];

	if (is_on_cpu(state)) {
		format_add(text, CHAIN_TEXT, "on a CPU");
		return;
	}
	if (is_in_queue(state)) {
		format_add(text, CHAIN_TEXT,
			   state == STATE_RUNQ_THROTTLED ? "throttled" : "run queue");
		return;
	}
	if (state == STATE_BLOCKED_LOCK || state == STATE_BLOCKED_NET) {
		format_object(digest, object, what, sizeof(what));
		format_add(text, CHAIN_TEXT, "%s %s",
			   state == STATE_BLOCKED_LOCK ? "lock" : "network",
			   *what ? ESCAPED(what) : "(not known)");
		return;
	}
	format_cause(digest, &cause, what, sizeof(what));
	if (*what)
		format_add(text, CHAIN_TEXT, "%s", ESCAPED(what));
	else
		format_add(text, CHAIN_TEXT, "%s", ESCAPED(digest->state_names[state]));
}

/* Who ran while a culprit waited for a CPU, by share of all its run-queue wait. */
static void add_rivals(const struct digest *digest, u32 tid, char *text)
{
	const struct thread *thread = digest_by_tid(digest, tid);
	struct culprit rivals[CULPRITS_MAX];
	struct account account;
	size_t count = 0;
	u64 whole;

	if (!thread)
		return;
	thread_account(digest, thread, &account);
	whole = account.ns[STATE_RUNQ_WOKEN] + account.ns[STATE_RUNQ_PREEMPTED];
	for (size_t i = 0; i < digest->rivals.count; i++) {
		const struct rival *rival = hash_item(&digest->rivals, i);

		if (&digest->threads[rival->thread] == thread && rival->kind == RIVAL_THREAD)
			culprit_add(rivals, &count, rival->comm, rival->pid, rival->tid, rival->ns);
	}
	culprits_sort(rivals, count);
	if (count && percent(rivals[0].ns, whole) >= SAID_SHARE)
		format_add(text, CHAIN_TEXT, " ← %s %s", ESCAPED(rivals[0].name),
			   SHARE(rivals[0].ns, whole));
}

/* Parts that read alike are one: "on a CPU" has several states. */
struct said {
	char what[CHAIN_TEXT];
	u64 ns;
	bool is_queue, is_next;
};

static size_t collect(const struct digest *digest, const struct chain_link *link, struct said *said)
{
	size_t count = 0;

	for (size_t i = 0; i < link->part_count; i++) {
		const struct link_part *part = &link->parts[i];
		char what[CHAIN_TEXT] = "";
		size_t at = 0;

		chain_add_what(digest, part->state, part->call, part->object, what);
		while (at < count && (strcmp(said[at].what, what) != 0 || said[at].is_next))
			at++;
		if (at == count || i == link->next) {
			at = count++;
			said[at] = (struct said){.is_next = i == link->next,
						 .is_queue = is_in_queue(part->state)};
			memcpy(said[at].what, what, sizeof(what));
		}
		said[at].ns += part->ns;
	}
	return count;
}

/* What is followed further stands last, so that it is clear what it explains. */
static int rank(const struct said *said)
{
	return said->is_next ? 2 : said->is_queue ? 1 : 0;
}

static int by_order(const void *a, const void *b)
{
	const struct said *x = a, *y = b;

	if (rank(x) != rank(y))
		return rank(x) - rank(y);
	return x->ns != y->ns ? (x->ns > y->ns ? -1 : 1) : strcmp(x->what, y->what);
}

static void add_unknown(const struct chain_link *link, size_t *parts, char *text)
{
	if (percent(link->unknown_ns, link->ns) >= SAID_SHARE)
		format_add(text, CHAIN_TEXT, "%s %s not known", (*parts)++ ? "," : ":",
			   SHARE(link->unknown_ns, link->ns));
}

static void add_link(const struct digest *digest, const struct chain_link *link, char *text)
{
	struct said said[CHAIN_PARTS_MAX];
	size_t count = collect(digest, link, said), parts = 0;
	bool is_unknown_said = false;

	qsort(said, count, sizeof(said[0]), by_order);
	format_add(text, CHAIN_TEXT, "%s", ESCAPED(*link->comm ? link->comm : "a thread"));
	if (link->tid)
		format_add(text, CHAIN_TEXT, " (%u)", link->tid);
	for (size_t i = 0; i < count; i++) {
		if (rank(&said[i]) && !is_unknown_said) {
			add_unknown(link, &parts, text);
			is_unknown_said = true;
		}
		if (!said[i].is_next &&
		    (percent(said[i].ns, link->ns) < SAID_SHARE || parts > SAID_MAX))
			continue;
		format_add(text, CHAIN_TEXT, "%s %s %s", parts++ ? "," : ":",
			   SHARE(said[i].ns, link->ns), said[i].what);
		if (said[i].is_queue && !said[i].is_next)
			add_rivals(digest, link->tid, text);
	}
	if (!is_unknown_said)
		add_unknown(link, &parts, text);
}

void chain_links_text(const struct digest *digest, const struct chain *chain, char *text)
{
	for (size_t i = 0; i < chain->link_count; i++) {
		format_add(text, CHAIN_TEXT, "%s", i ? " ← " : "");
		add_link(digest, &chain->links[i], text);
	}
}

void chain_say(const struct digest *digest, struct chain *chain)
{
	const struct thread *thread = &digest->threads[chain->thread];
	char who[DIGEST_TEXT];

	format_tid(digest, thread->tid, who, sizeof(who));
	format_add(chain->sentence, CHAIN_TEXT, "%s waited %s: ", who, DURATION(chain->ns));
	chain_add_what(digest, chain->state, 0, chain->object, chain->sentence);
	format_add(chain->sentence, CHAIN_TEXT, " ← ");
	chain_links_text(digest, chain, chain->sentence);
	if (chain->alike)
		format_add(chain->sentence, CHAIN_TEXT, "; so did %s more thread%s, %s in sum",
			   NUMBER(chain->alike), chain->alike == 1 ? "" : "s",
			   DURATION(chain->alike_ns));
	format_add(chain->sentence, CHAIN_TEXT, ".");
}
