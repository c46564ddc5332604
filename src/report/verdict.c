// SPDX-License-Identifier: Apache-2.0
#include "verdict.h"

#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/text.h"
#include "../model/state.h"
#include "calls.h"
#include "format.h"
#include "text.h"
#include "why.h"

#define WORTH_SHARE   10  /* percent of what is not idle: less is not worth a sentence */
#define MENTION_SHARE 5	  /* percent: less is not worth a word */
#define BEWARE_SHARE  1	  /* percent unattributed */
#define MENTIONED     2	  /* states of a sentence */
#define MANY_CALLS    100 /* fewer that fail are nobody's concern */
#define ANCESTORS_MAX 64

/* What the rules look at. */
struct findings {
	const struct digest *digest;
	u64 busy_ns;
	struct hash whys;  /* struct why, of interest first, longest first */
	struct hash calls; /* struct call, longest first */
};

struct sentence {
	u64 weight;    /* the time that it is about; 0: nothing to say */
	bool is_waste; /* time that need not have been spent: told before what only weighs more */
	char text[SENTENCE_BYTES];
};

static void add_state(const struct digest *digest, int state, u64 ns, u64 whole, const char *before,
		      char *text)
{
	format_add(text, SENTENCE_BYTES, "%s%s %s", before, SHARE(ns, whole),
		   ESCAPED(digest->state_names[state]));
	if (state < STATE_COUNT && state != STATE_CPU) /* which speaks for itself */
		format_add(text, SENTENCE_BYTES, " (%s)", state_meanings[state]);
}

/*
 * The states that matter most. Of many threads, that some wait for work is no news as long as
 * others do something; of a single one it may be the whole story.
 */
static void add_states(const struct digest *digest, const struct account *account, bool is_many,
		       char *text)
{
	u64 whole = account_sum(account), idle = account_idle(account);
	int order[STATE_LIMIT], count = sorted_states(account, order), said = 0;
	bool skip_idle = is_many && percent(whole - idle, whole) >= MENTION_SHARE;

	for (int i = 0; i < count && said < MENTIONED; i++) {
		u64 ns = account->ns[order[i]];

		if ((skip_idle && state_is_idle(order[i])) ||
		    (i &&
		     order[i] == STATE_BLOCKED_FORK) || /* whose making takes time is no news */
		    (said && percent(ns, whole) < MENTION_SHARE))
			continue;
		add_state(digest, order[i], ns, whole, said++ ? ", " : "", text);
	}
	if (skip_idle && percent(idle, whole) >= MENTION_SHARE)
		format_add(text, SENTENCE_BYTES, "; %s idle", SHARE(idle, whole));
	if (!said)
		format_add(text, SENTENCE_BYTES, "nothing");
}

static const struct process *by_pid(const struct digest *digest, u32 pid)
{
	size_t low = 0, high = digest->process_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (digest->processes[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < digest->process_count && digest->processes[low].pid == pid
		       ? &digest->processes[low]
		       : NULL;
}

static bool descends(const struct digest *digest, const struct process *process, u32 ancestor)
{
	for (int i = 0; process && process->parent && i < ANCESTORS_MAX; i++) {
		if (process->parent == ancestor)
			return true;
		process = by_pid(digest, process->parent);
	}
	return false;
}

/* The process that a person means: the command's own, else the busiest. */
static const struct process *find_subject(const struct digest *digest, bool *ret_is_command)
{
	const struct process *first = NULL, *busiest = NULL;

	for (size_t i = 0; i < digest->process_count; i++) {
		const struct process *process = &digest->processes[i];

		if (!process->is_present)
			continue;
		if ((!process->parent || !by_pid(digest, process->parent)) && process->pid &&
		    (!first || process->begin_ns < first->begin_ns))
			first = process;
		if (!busiest || process->work_ns > busiest->work_ns)
			busiest = process;
	}
	*ret_is_command = first && *digest_meta(digest, "command") && !digest->options->pid_count;
	return *ret_is_command ? first : busiest;
}

/* Into the children that ran while it waited for them: of a command that is all there is. */
static void add_children(const struct digest *digest, const struct process *parent, bool is_command,
			 char *text)
{
	const struct process *busiest = NULL;
	struct account sum = {0};
	u64 count = 0;

	for (size_t i = 0; i < digest->process_count; i++) {
		const struct process *process = &digest->processes[i];

		if (!process->is_present || process == parent ||
		    (!is_command && !descends(digest, process, parent->pid)))
			continue;
		count++;
		if (!busiest || process->work_ns > busiest->work_ns)
			busiest = process;
		for (int state = 0; state < STATE_LIMIT; state++)
			sum.ns[state] += process->account.ns[state];
	}
	sum.ns[STATE_BLOCKED_CHILD] = 0; /* the same again, one level down */
	if (!count || !account_sum(&sum))
		return;
	if (count == 1)
		format_add(text, SENTENCE_BYTES, " Its child, %s: ", DURATION(account_sum(&sum)));
	else
		format_add(text, SENTENCE_BYTES, " Its %s descendants, %s in sum: ", NUMBER(count),
			   DURATION(account_sum(&sum)));
	add_states(digest, &sum, count > 1, text);
	if (count > 1 && busiest->work_ns)
		format_add(text, SENTENCE_BYTES, "; busiest %s (pid %u)", ESCAPED(busiest->comm),
			   busiest->pid);
	format_add(text, SENTENCE_BYTES, ".");
}

static void tell_subject(const struct findings *findings, char *text)
{
	const struct digest *digest = findings->digest;
	bool is_command = false;
	const struct process *process = find_subject(digest, &is_command);
	const struct account *account;
	u64 sum;

	*text = '\0';
	if (!process) {
		format_add(text, SENTENCE_BYTES, "No thread %swas seen in this %ssession.",
			   digest->options->pid_count ? "of these processes " : "",
			   digest->is_slice ? "part of the " : "");
		return;
	}
	account = &process->account;
	sum = account_sum(account);
	format_add(text, SENTENCE_BYTES, "%s%s (pid %u)",
		   is_command || digest->options->pid_count == 1 ? "" : "Busiest: ",
		   ESCAPED(process->comm), process->pid);
	format_add(text, SENTENCE_BYTES, is_command ? " took %s" : ", in %s",
		   DURATION(process->end_ns - process->begin_ns));
	if (process->present > 1)
		format_add(text, SENTENCE_BYTES, "; of its %s threads' %s",
			   NUMBER(process->present), DURATION(sum));
	format_add(text, SENTENCE_BYTES, ": ");
	add_states(digest, account, process->present > 1, text);
	format_add(text, SENTENCE_BYTES, ".");
	if (percent(account->ns[STATE_BLOCKED_CHILD], sum) >= WORTH_SHARE)
		add_children(digest, process, is_command, text);
}

static const struct why *longest(const struct findings *findings, bool (*is_wanted)(int state))
{
	for (size_t i = 0; i < findings->whys.count; i++) {
		const struct why *why = hash_item(&findings->whys, i);

		if (is_wanted(why->cause.state))
			return why;
	}
	return NULL;
}

static void beware(const struct findings *findings, struct sentence *ret)
{
	const struct account *all = &findings->digest->all;
	u64 ns = all->ns[STATE_UNATTRIBUTED];

	if (percent(ns, account_sum(all)) < BEWARE_SHARE)
		return;
	ret->weight = ~0ULL; /* before all others */
	format_add(ret->text, SENTENCE_BYTES,
		   "Beware: %s of the time is unattributed, and may belong to any state.",
		   SHARE(ns, account_sum(all)));
}

static bool is_lock(int state)
{
	return state == STATE_BLOCKED_LOCK;
}

/* Who waited for whom, and what the holder did. */
static void tell_lock(const struct findings *findings, struct sentence *ret)
{
	const struct digest *digest = findings->digest;
	const struct why *why = longest(findings, is_lock);
	const struct thread *waiter, *holder;
	char cause[CAUSE_BYTES], blame[CAUSE_BYTES], who[DIGEST_TEXT];
	struct account account;

	if (!why)
		return;
	ret->weight = digest->all.ns[STATE_BLOCKED_LOCK];
	waiter = &digest->threads[why->worst];
	holder = why->cause.holder ? digest_by_tid(digest, why->cause.holder) : NULL;
	format_tid(digest, waiter->tid, who, sizeof(who));
	format_cause(digest, &why->cause, cause, sizeof(cause));
	format_blame(digest, &why->cause, why->is_shared, blame, sizeof(blame));
	format_add(ret->text, SENTENCE_BYTES, "%s waited %s (%s of its time) for the lock %s%s",
		   who, DURATION(why->worst_ns),
		   SHARE(why->worst_ns, thread_wall_ns(digest, waiter)), ESCAPED(cause), blame);
	if (holder && holder->cause_count) {
		format_add(ret->text, SENTENCE_BYTES, "; the holder's own time: ");
		thread_account(digest, holder, &account);
		add_states(digest, &account, false, ret->text);
	}
	format_add(ret->text, SENTENCE_BYTES, ".");
}

static void tell_queue(const struct findings *findings, struct sentence *ret)
{
	const struct account *all = &findings->digest->all;
	u64 throttled = all->ns[STATE_RUNQ_THROTTLED];

	ret->weight = account_runq(all);
	/* Of all time it may be little, where many threads sleep, on a host that is overrun. */
	format_add(ret->text, SENTENCE_BYTES,
		   "Threads waited %s (%s) for a CPU, %s of the time that they could have run",
		   DURATION(ret->weight), SHARE(ret->weight, account_sum(all)),
		   SHARE(ret->weight, ret->weight + account_cpu(all)));
	if (percent(throttled, ret->weight) >= WORTH_SHARE)
		format_add(ret->text, SENTENCE_BYTES,
			   ", %s of it since their CPU quota was used up", DURATION(throttled));
	for (size_t i = 0; i < findings->whys.count; i++) {
		const struct cause *cause = &((struct why *)hash_item(&findings->whys, i))->cause;
		char who[DIGEST_TEXT];

		if (cause->waker_kind != WAKER_RAN || !cause->waker)
			continue;
		format_tid(findings->digest, cause->waker, who, sizeof(who));
		format_add(ret->text, SENTENCE_BYTES, "; most ran instead: %s", who);
		break;
	}
	format_add(ret->text, SENTENCE_BYTES, ".");
}

/* Calls that fail are the ones that need not have been made: they count twice. */
static double call_weight(const struct call *call)
{
	double failed = call->count ? (double)call->failed / (double)call->count : 0;

	return (double)call->cpu_ns * (1 + failed);
}

static void tell_calls(const struct findings *findings, struct sentence *ret)
{
	const struct account *all = &findings->digest->all;
	const struct call *best = NULL;
	char buf[64];

	for (size_t i = 0; i < findings->calls.count; i++) {
		const struct call *call = hash_item(&findings->calls, i);

		if (call->call && (!best || call_weight(call) > call_weight(best)))
			best = call;
	}
	if (!best)
		return;
	ret->weight = all->ns[STATE_CPU_SYSCALL];
	ret->is_waste = best->count >= MANY_CALLS && best->failed > best->count / 2 &&
			percent(best->cpu_ns, account_cpu(all)) >= MENTION_SHARE;
	format_add(ret->text, SENTENCE_BYTES,
		   "System calls took %s of the time on a CPU, above all %s (%s): %s call%s",
		   SHARE(ret->weight, account_cpu(all)),
		   ESCAPED(digest_call_name(findings->digest, best->call, buf, sizeof(buf))),
		   SHARE(best->cpu_ns, account_cpu(all)), NUMBER(best->count),
		   best->count == 1 ? "" : "s");
	if (best->failed)
		format_add(ret->text, SENTENCE_BYTES, ", of which %s failed (%s)",
			   NUMBER(best->failed), SHARE(best->failed, best->count));
	format_add(ret->text, SENTENCE_BYTES, ".");
}

static bool is_other_wait(int state)
{
	return state > STATE_RUNQ_THROTTLED && !is_lock(state) && !state_is_idle(state) &&
	       state != STATE_BLOCKED_CHILD && state != STATE_BLOCKED_FORK;
}

static void tell_wait(const struct findings *findings, struct sentence *ret)
{
	const struct digest *digest = findings->digest;
	const struct why *why = longest(findings, is_other_wait);
	char cause[CAUSE_BYTES], blame[CAUSE_BYTES];

	if (!why)
		return;
	ret->weight = why->cause.ns;
	format_cause(digest, &why->cause, cause, sizeof(cause));
	format_blame(digest, &why->cause, why->is_shared, blame, sizeof(blame));
	format_add(ret->text, SENTENCE_BYTES, "%s (pid %u) was %s for %s (%s of all threads' time)",
		   ESCAPED(digest->processes[why->cause.thread].comm),
		   digest->processes[why->cause.thread].pid,
		   ESCAPED(digest->state_names[why->cause.state]), DURATION(ret->weight),
		   SHARE(ret->weight, account_sum(&digest->all)));
	if (*cause)
		format_add(ret->text, SENTENCE_BYTES, ": %s", ESCAPED(cause));
	format_add(ret->text, SENTENCE_BYTES, "%s.", blame);
}

static void tell_faults(const struct findings *findings, struct sentence *ret)
{
	const struct digest *digest = findings->digest;
	u64 begun = 0;

	for (size_t i = 0; i < digest->thread_count; i++)
		if (digest_shows(digest, &digest->threads[i]))
			begun += digest->threads[i].faults.begun;
	ret->weight = digest->all.ns[STATE_CPU_FAULT];
	format_add(ret->text, SENTENCE_BYTES, "%s page faults took %s of the time on a CPU.",
		   NUMBER(begun), SHARE(ret->weight, account_cpu(&digest->all)));
}

/* One function per rule; those that weigh most are told. */
static void (*const rules[])(const struct findings *, struct sentence *) = {
	beware, tell_lock, tell_queue, tell_calls, tell_wait, tell_faults,
};

static int by_weight(const void *a, const void *b)
{
	const struct sentence *x = a, *y = b;

	if (x->is_waste != y->is_waste && x->weight != ~0ULL && y->weight != ~0ULL)
		return x->is_waste ? -1 : 1;
	return x->weight > y->weight ? -1 : x->weight < y->weight;
}

int verdict_find(const struct digest *digest, struct verdict *ret_verdict)
{
	struct findings findings = {.digest = digest, .busy_ns = digest->busy_ns};
	struct sentence sentences[ARRAY_SIZE(rules)] = {0};
	int err = why_find(digest, &findings.whys), calls_err = calls_find(digest, &findings.calls);

	tell_subject(&findings, ret_verdict->sentences[0]);
	ret_verdict->count = 1;
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		rules[i](&findings, &sentences[i]);
	qsort(sentences, ARRAY_SIZE(rules), sizeof(sentences[0]), by_weight);
	for (size_t i = 0; i < ARRAY_SIZE(rules) && ret_verdict->count < SENTENCES_MAX; i++)
		if (sentences[i].weight &&
		    (sentences[i].is_waste ||
		     percent(sentences[i].weight, findings.busy_ns) >= WORTH_SHARE))
			text_copy(ret_verdict->sentences[ret_verdict->count++], SENTENCE_BYTES,
				  sentences[i].text);
	hash_free(&findings.whys);
	hash_free(&findings.calls);
	return err ? err : calls_err;
}

void text_verdict(const struct digest *digest, const struct page *page)
{
	struct verdict verdict;

	if (verdict_find(digest, &verdict))
		return;
	fputc('\n', page->out);
	for (size_t i = 0; i < verdict.count; i++)
		page_wrap(page, 0, 0, verdict.sentences[i]);
}
