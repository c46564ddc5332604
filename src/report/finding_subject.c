// SPDX-License-Identifier: Apache-2.0
/*
 * The process that a person means: the command of `dwell run`, or the one that --pid names. How
 * long it took, and where its time went.
 */
#include <string.h>

#include "../base/cleanup.h"
#include "../model/state.h"
#include "finding.h"
#include "format.h"

#define MENTION_SHARE 5.0 /* percent of the process's time: less is not worth a word */
#define WORTH_SHARE   10.0
#define MENTIONED     3
#define ANCESTORS_MAX 64

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

static const struct process *by_identity(const struct digest *digest, u32 pid, u64 start_ns)
{
	for (const struct process *process = by_pid(digest, pid);
	     process && process < digest->processes + digest->process_count && process->pid == pid;
	     process++)
		if (process->start_ns == start_ns)
			return process;
	return NULL;
}

/* What has its own begin: a process that is known by sums alone has none. */
static bool has_begin(const struct process *process)
{
	return process->is_present && process->pid && process->begin_ns;
}

/* The first exec is the command's. Without one, the process that is nobody's child. */
static const struct process *find_command(const struct digest *digest)
{
	const struct process *first = NULL;

	if (digest->exec_count) {
		const struct exec *exec = &digest->execs[0];

		first = by_identity(digest, exec->pid, exec->start_ns);
		if (first && has_begin(first))
			return first;
		first = NULL;
	}
	for (size_t i = 0; i < digest->process_count; i++) {
		const struct process *process = &digest->processes[i];

		if (has_begin(process) && (!process->parent || !by_pid(digest, process->parent)) &&
		    (!first || process->begin_ns < first->begin_ns))
			first = process;
	}
	return first;
}

static const struct process *find_busiest(const struct digest *digest)
{
	const struct process *busiest = NULL;

	for (size_t i = 0; i < digest->process_count; i++) {
		const struct process *process = &digest->processes[i];

		if (process->is_present && (!busiest || process->work_ns > busiest->work_ns))
			busiest = process;
	}
	return busiest;
}

/* Until it ended, whatever of its threads was seen; of a part, what is in it. */
static u64 duration_of(const struct digest *digest, const struct process *process)
{
	u64 end_ns = process->end_ns;

	if (!digest->is_slice && process->ended_ns > end_ns)
		end_ns = process->ended_ns;
	return end_ns > process->begin_ns ? end_ns - process->begin_ns : 0;
}

static void add_meaning(struct finding *finding, const struct digest *digest, int state)
{
	finding_say(finding, " %s", ESCAPED(digest->state_names[state]));
	if (state < STATE_COUNT && state != STATE_CPU) /* which speaks for itself */
		finding_say(finding, " (%s)", state_meanings[state]);
}

/* Of one thread: its states as shares of its own time. */
static void say_thread(struct finding *finding, const struct digest *digest,
		       const struct account *account)
{
	u64 whole = account_sum(account);
	int order[STATE_LIMIT], count = account_sort_states(account, order), said = 0;

	for (int i = 0; i < count && said < MENTIONED; i++) {
		u64 ns = account->ns[order[i]];

		if (said && percent(ns, whole) < MENTION_SHARE)
			break;
		finding_evidence(finding, "state", digest->state_names[order[i]],
				 percent(ns, whole), "%", BASE_WALL);
		finding_say(finding, "%s%s", said++ ? ", " : ": ", SHARE(ns, whole));
		add_meaning(finding, digest, order[i]);
	}
	finding_say(finding, ".");
}

/* Of many: how many were in each state on average. Those that are idle are only counted. */
static void say_threads(struct finding *finding, const struct digest *digest,
			const struct account *account, u64 duration, u64 threads)
{
	int order[STATE_LIMIT], count = account_sort_states(account, order), said = 0;

	finding_say(finding, " with %s threads; on average", NUMBER(threads));
	for (int i = 0; i < count && said < MENTIONED; i++) {
		double average = duration ? (double)account->ns[order[i]] / (double)duration : 0;

		if (state_is_idle(order[i]) || (said && average < 0.05))
			continue;
		finding_evidence(finding, "threads_in", digest->state_names[order[i]], average,
				 "count", NULL);
		finding_say(finding, "%s %.*f", said++ ? "," : "", average < 9.95 ? 2 : 0, average);
		add_meaning(finding, digest, order[i]);
	}
	finding_say(finding, said ? "; the rest idle." : " all were idle.");
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

/* The children that ran while it waited for them: of a command that is all there is. */
static u64 sum_children(const struct digest *digest, const struct process *parent, bool is_command,
			struct account *ret_sum, const struct process **ret_busiest)
{
	u64 count = 0;

	*ret_sum = (struct account){0};
	*ret_busiest = NULL;
	for (size_t i = 0; i < digest->process_count; i++) {
		const struct process *process = &digest->processes[i];

		if (!process->is_present || process == parent ||
		    (!is_command && !descends(digest, process, parent->pid)))
			continue;
		/* A process of pid 0 stands for threads of many. */
		count += process->pid ? 1 : process->present;
		if (!*ret_busiest || process->work_ns > (*ret_busiest)->work_ns)
			*ret_busiest = process;
		account_add(ret_sum, &process->account);
	}
	ret_sum->ns[STATE_BLOCKED_CHILD] = 0; /* the same again, one level down */
	return count;
}

static void say_children(struct finding *finding, const struct digest *digest,
			 const struct process *parent, bool is_command)
{
	const struct process *busiest;
	struct account sum;
	u64 count = sum_children(digest, parent, is_command, &sum, &busiest);
	int order[STATE_LIMIT], states, said = 0;

	if (!count || !account_sum(&sum))
		return;
	states = account_sort_states(&sum, order);
	finding_evidence(finding, "descendants", NULL, (double)count, "count", NULL);
	if (count == 1)
		finding_say(finding, " Its child:");
	else
		finding_say(finding, " Its %s descendants, in sum:", NUMBER(count));
	for (int i = 0; i < states && said < MENTIONED; i++) {
		if (state_is_idle(order[i]))
			continue;
		finding_evidence(finding, "descendants_in", digest->state_names[order[i]],
				 (double)sum.ns[order[i]], "ns", NULL);
		finding_say(finding, "%s %s %s", said++ ? "," : "", DURATION(sum.ns[order[i]]),
			    ESCAPED(digest->state_names[order[i]]));
	}
	if (count > 1 && busiest->work_ns)
		finding_say(finding, "; busiest %s (pid %u)", ESCAPED(busiest->comm), busiest->pid);
	finding_say(finding, said || count > 1 ? "." : " idle.");
}

static void tell_none(const struct digest *digest, struct findings *findings)
{
	struct finding *finding = finding_add(findings, "process", SEVERITY_INFO, 0);

	finding_say(finding, "No thread %swas seen in this %ssession.",
		    session_part_is_filtered(&digest->options->part) ? "of these processes " : "",
		    digest->is_slice ? "part of the " : "");
}

void find_subject(const struct digest *digest, struct findings *findings)
{
	bool is_command = *digest_meta(digest, "command") &&
			  !session_part_is_filtered(&digest->options->part);
	const struct process *process = is_command ? find_command(digest) : NULL;
	struct finding *finding;
	char who[DIGEST_TEXT];
	u64 duration;

	is_command = process != NULL;
	process = process ? process : find_busiest(digest);
	if (!process) {
		tell_none(digest, findings);
		return;
	}
	duration = duration_of(digest, process);
	finding =
		finding_add(findings, is_command ? "command" : "process", SEVERITY_INFO, duration);
	if (!finding)
		return;
	finding_set_process(finding, process);
	finding_evidence(finding, "duration", NULL, (double)duration, "ns", NULL);
	finding_evidence(finding, "threads", NULL, (double)process->present, "count", NULL);
	finding_subject_text(finding, who, sizeof(who));
	finding_say(finding, "%s%s%s%s",
		    is_command || digest->options->part.pid_count == 1 ? "" : "Busiest: ", who,
		    is_command ? " took " : ", in ", DURATION(duration));
	if (process->present > 1)
		say_threads(finding, digest, &process->account, duration, process->present);
	else
		say_thread(finding, digest, &process->account);
	if (percent(process->account.ns[STATE_BLOCKED_CHILD], account_sum(&process->account)) >=
	    WORTH_SHARE)
		say_children(finding, digest, process, is_command);
}
