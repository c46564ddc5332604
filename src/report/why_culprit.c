// SPDX-License-Identifier: Apache-2.0
/* Who made a wait last, in words: whoever had most of its time. */
#include <string.h>

#include "format.h"
#include "rivals.h"
#include "why.h"

#define HOLDER_SHARE 5.0  /* percent: a holder of less is not named */
#define WAKER_SHARE  50.0 /* percent: a waker of less is not named */
#define ALL_SHARE    99.5 /* percent: it was the only one */

/* That whoever holds a lock ends the wait for it, or a timer ends a sleep, is no news. */
static bool is_expected(const struct why *why, u32 kind)
{
	return why->holders[0].tid ||
	       (why->cause.state == STATE_BLOCKED_DISK && kind == WAKER_DISK) ||
	       (why->cause.state == STATE_BLOCKED_SLEEP && kind == WAKER_TIMER);
}

static void add_share(u64 ns, u64 whole, char *buf, size_t size)
{
	if (percent(ns, whole) < ALL_SHARE)
		format_add(buf, size, " %s", SHARE(ns, whole));
}

static void add_holders(const struct digest *digest, const struct why *why, char *buf, size_t size)
{
	for (size_t i = 0; i < WHY_CULPRITS; i++) {
		const struct why_culprit *holder = &why->holders[i];
		char who[DIGEST_TEXT];

		if (!holder->tid || percent(holder->ns, why->cause.ns) < HOLDER_SHARE)
			break;
		format_tid(digest, holder->tid, who, sizeof(who));
		format_add(buf, size, "%s%s", i ? ", " : ", held by ", who);
		add_share(holder->ns, why->cause.ns, buf, size);
	}
}

static void add_rivals(const struct digest *digest, const struct why *why, char *buf, size_t size)
{
	struct rivals rivals;

	rivals_of_process(digest, why->cause.thread, &rivals);
	for (size_t i = 0, said = 0; i < rivals.count && said < WHY_CULPRITS; i++) {
		if (percent(rivals.of[i].ns, rivals.whole_ns) < HOLDER_SHARE)
			break;
		if (*rivals.of[i].name == '(')
			continue;
		format_add(buf, size, "%s%s %s",
			   said++ ? ", " : ", ran instead: ", ESCAPED(rivals.of[i].name),
			   SHARE(rivals.of[i].ns, rivals.whole_ns));
	}
}

static void add_kind(const struct why *why, u32 kind, char *buf, size_t size)
{
	if (kind == WAKER_IDLE)
		format_add(buf, size, ", its CPU was idle and had to wake up");
	else if (kind == WAKER_NOT_ALLOWED)
		format_add(buf, size, ", a CPU was idle, but not allowed to it");
	else if (kind == WAKER_NAGLE)
		format_add(buf, size, ", held back until the peer acknowledged (Nagle)");
	else if (kind >= WAKER_TIMER && kind <= WAKER_INTERRUPT)
		format_add(buf, size, ", woken by %s", context_name(kind));
	else
		return;
	add_share(why->kind_ns[kind], why->cause.ns, buf, size);
}

/* The kind that ended at least half of the time; WAKER_NONE: none did. */
static u32 main_kind(const struct why *why)
{
	for (u32 kind = 1; kind < WHY_KINDS; kind++)
		if (percent(why->kind_ns[kind], why->cause.ns) >= WAKER_SHARE)
			return kind;
	return WAKER_NONE;
}

void why_blame(const struct digest *digest, const struct why *why, char *buf, size_t size)
{
	const struct why_culprit *waker = &why->wakers[0];
	u8 state = why->cause.state;
	u32 kind = main_kind(why);
	char who[DIGEST_TEXT];

	*buf = '\0';
	if (state == STATE_RUNQ_THROTTLED)
		return; /* a quota is to blame, which findings name, and nobody else */
	add_holders(digest, why, buf, size);
	if (state == STATE_RUNQ_WOKEN || state == STATE_RUNQ_PREEMPTED)
		add_rivals(digest, why, buf, size);
	if (*buf || is_expected(why, kind))
		return;
	if (waker->tid && waker->kind != WAKER_RAN &&
	    percent(waker->ns, why->cause.ns) >= WAKER_SHARE) {
		format_tid(digest, waker->tid, who, sizeof(who));
		format_add(buf, size, ", woken by %s", who);
		add_share(waker->ns, why->cause.ns, buf, size);
		return;
	}
	add_kind(why, kind, buf, size);
}
