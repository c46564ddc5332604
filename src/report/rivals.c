// SPDX-License-Identifier: Apache-2.0
#include "rivals.h"

#include <string.h>

const char *policy_name(u32 policy)
{
	return policy == 1 ? "FIFO" : policy == 2 ? "RR" : policy == 6 ? "deadline" : "";
}

/* A process is known by its own name, not by that of the thread that ran. */
static const char *name_of(const struct digest *digest, const struct rival *rival)
{
	const struct thread *thread = rival->tid ? digest_by_tid(digest, rival->tid) : NULL;

	if (rival->kind == RIVAL_IDLE)
		return RIVALS_IDLE;
	if (rival->kind == RIVAL_OTHERS)
		return RIVALS_OTHERS;
	if (thread && thread->pid == rival->pid && *digest->processes[thread->process].comm)
		return digest->processes[thread->process].comm;
	return rival->comm;
}

static void add(const struct digest *digest, const struct rival *rival, struct rivals *rivals)
{
	culprit_add(rivals->of, &rivals->count, name_of(digest, rival), rival->pid, rival->tid,
		    rival->ns);
	if (!*policy_name(rival->policy))
		return;
	rivals->by_policy[rival->policy].ns =
		profile_add(rivals->by_policy[rival->policy].ns, rival->ns);
	if (rival->ns <= rivals->by_policy[rival->policy].most_ns)
		return;
	rivals->by_policy[rival->policy].most_ns = rival->ns;
	rivals->by_policy[rival->policy].tid = rival->tid;
	memcpy(rivals->by_policy[rival->policy].comm, rival->comm, sizeof(rival->comm));
}

static u64 queue_of(const struct account *account)
{
	return account->ns[STATE_RUNQ_WOKEN] + account->ns[STATE_RUNQ_PREEMPTED];
}

void rivals_of_process(const struct digest *digest, u32 process, struct rivals *ret_rivals)
{
	*ret_rivals = (struct rivals){.whole_ns = queue_of(&digest->processes[process].account)};
	for (size_t i = 0; i < digest->rivals.count; i++) {
		const struct rival *rival = hash_item(&digest->rivals, i);
		const struct thread *thread = &digest->threads[rival->thread];

		if (thread->process == process && digest_shows(digest, thread))
			add(digest, rival, ret_rivals);
	}
	culprits_sort(ret_rivals->of, ret_rivals->count);
}

void rivals_of_group(const struct digest *digest, u32 group, struct rivals *ret_rivals)
{
	const struct group *of = hash_item(&digest->groups, group);

	*ret_rivals = (struct rivals){.whole_ns = queue_of(&of->account)};
	for (size_t i = 0; i < digest->rivals.count; i++) {
		const struct rival *rival = hash_item(&digest->rivals, i);
		const struct thread *thread = &digest->threads[rival->thread];

		if (digest_shows(digest, thread) &&
		    digest->processes[thread->process].group == group)
			add(digest, rival, ret_rivals);
	}
	culprits_sort(ret_rivals->of, ret_rivals->count);
}
