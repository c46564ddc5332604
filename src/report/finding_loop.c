// SPDX-License-Identifier: Apache-2.0
/* Event loops whose turns take long, and threads that time-outs wake for nothing. */
#include <errno.h>
#include <string.h>

#include "finding_wait.h"
#include "format.h"
#include "hot_function.h"

#define TURN_LEAST_NS (20 * 1000000ULL) /* shorter ones are nobody's concern */
#define WAKEUPS_LEAST 100.0		/* a second */

static void tell_loop(const struct digest *digest, const struct loop *loop,
		      struct findings *findings)
{
	const struct thread *thread = &digest->threads[loop->thread];
	u64 wall = thread_wall_ns(digest, thread);
	struct finding *finding;
	struct hot_function place;
	char who[DIGEST_TEXT];

	/* One whose turns are mostly long has one task at a time, and nothing else that waits. */
	if (!digest_shows(digest, thread) || loop->max_ns < TURN_LEAST_NS || !loop->long_turns ||
	    loop->long_turns > loop->turns / 2)
		return;
	finding = finding_add(findings, "loop-busy", finding_severity(digest, loop->long_ns),
			      loop->long_ns);
	if (!finding)
		return;
	finding_set_thread(finding, digest, thread);
	finding_evidence(finding, "longest", NULL, (double)loop->max_ns, "ns", NULL);
	finding_evidence(finding, "long_turns", NULL, (double)loop->long_turns, "count", NULL);
	finding_evidence(finding, "long_time", NULL, (double)loop->long_ns, "ns", NULL);
	finding_evidence(finding, "turns", NULL, (double)loop->turns, "count", NULL);
	finding_evidence(finding, "share", NULL, percent(loop->long_ns, wall), "%", BASE_WALL);
	finding_subject_text(finding, who, sizeof(who));
	finding_say(finding,
		    "%s: its event loop ran up to %s at a stretch; %s of %s turns took 10 ms or "
		    "more, %s of "
		    "its time",
		    who, DURATION(loop->max_ns), NUMBER(loop->long_turns), NUMBER(loop->turns),
		    SHARE(loop->long_ns, wall));
	if (hot_function_on_cpu(digest, digest->processes[thread->process].group, thread->tid, 0,
				&place))
		findings->err = -ENOMEM;
	if (*place.function) {
		finding_evidence(finding, "function", place.function, place.share, "%",
				 BASE_SAMPLES);
		finding_say(finding, "; %.0f %% of its CPU samples are in %s", place.share,
			    ESCAPED(place.function));
	}
	finding_say(finding, ". Everything else of that loop waits meanwhile.");
	finding_advise(finding, "Split that work, or move it to another thread.");
}

struct wakeups {
	u64 count, cpu_ns, threads;
	u64 by_timeout; /* of count: a call other than a sleep timed out */
	u32 call;	/* of the longest cause */
	u64 call_count;
};

static void add_thread(const struct digest *digest, const struct thread *thread,
		       struct wakeups *wakeups)
{
	struct account account;
	u64 count = 0;

	for (size_t i = 0; i < thread->cause_count; i++) {
		const struct cause *cause = hash_item(&digest->causes, thread->first_cause + i);

		if (cause->state != STATE_BLOCKED_SLEEP)
			continue;
		count += cause->count;
		if (cause_is_timeout(digest, cause->state, cause->call))
			wakeups->by_timeout += cause->count;
		if (cause->count > wakeups->call_count) {
			wakeups->call_count = cause->count;
			wakeups->call = cause->call;
		}
	}
	if (!count)
		return;
	thread_account(digest, thread, &account);
	wakeups->count += count;
	wakeups->cpu_ns += account_cpu(&account);
	wakeups->threads += thread_number(thread);
}

static void tell_wakeups(const struct digest *digest, u32 index, struct findings *findings)
{
	const struct group *group = hash_item(&digest->groups, index);
	double seconds = (double)digest_span(digest) / 1e9, rate;
	struct wakeups wakeups = {0};
	struct finding *finding;
	char who[DIGEST_TEXT], buf[64];
	const char *call;

	for (size_t i = 0; i < digest->thread_count; i++)
		if (digest_shows(digest, &digest->threads[i]) &&
		    digest->processes[digest->threads[i].process].group == index)
			add_thread(digest, &digest->threads[i], &wakeups);
	rate = seconds > 0 ? (double)wakeups.count / seconds : 0;
	if (rate < WAKEUPS_LEAST)
		return;
	finding = finding_add(findings, "wakeups", SEVERITY_NOTICE, wakeups.cpu_ns);
	if (!finding)
		return;
	call = digest_call_name(digest, wakeups.call, buf, sizeof(buf));
	finding_set_group(finding, digest, group);
	finding_evidence(finding, "wakeups", call, rate, "/s", NULL);
	finding_evidence(finding, "timed_out", NULL, (double)wakeups.by_timeout, "count", NULL);
	finding_evidence(finding, "cpu", NULL, (double)wakeups.cpu_ns, "ns", NULL);
	finding_evidence(finding, "cpu_share", NULL, percent(wakeups.cpu_ns, digest_span(digest)),
			 "%", BASE_ONE_CPU);
	finding_subject_text(finding, who, sizeof(who));
	finding_say(finding, "%s woke %s times a second as its own time ran out (mostly %s)", who,
		    NUMBER((u64)(rate + 0.5)), *call ? ESCAPED(call) : "no call");
	finding_say(finding, "; the thread%s used %s of one CPU.",
		    wakeups.threads == 1 ? "" : "s that did",
		    SHARE(wakeups.cpu_ns, digest_span(digest)));
	finding_advise(finding, "Wait for the event itself, or for longer.");
}

/* Which groups can have enough wake-ups at all: one pass, so that many groups cost little. */
void find_loops(const struct digest *digest, struct findings *findings)
{
	for (size_t i = 0; i < digest->loops.count; i++)
		tell_loop(digest, hash_item(&digest->loops, i), findings);
	for (u32 i = 0; i < digest->groups.count; i++) {
		const struct group *group = hash_item(&digest->groups, i);
		double seconds = (double)digest_span(digest) / 1e9;

		if (seconds > 0 &&
		    (double)group->account.count[STATE_BLOCKED_SLEEP] / seconds >= WAKEUPS_LEAST)
			tell_wakeups(digest, i, findings);
	}
}
