// SPDX-License-Identifier: Apache-2.0
/* Waits for a CPU: who ran instead, by time; and quotas. */
#include <string.h>

#include "finding_wait.h"
#include "format.h"
#include "rivals.h"

#define SATURATED_IDLE 10.0 /* percent of the CPUs' time: less is left where they are used up */
#define WORTH_SHARE    5.0  /* percent of the time that its threads could run */
#define LEAST_SHARE    0.1  /* percent of the time shown */

/* "kv 61 %, node 22 %, other or not known 17 %" of the run-queue wait. */
static void say_rivals(struct finding *finding, const struct group *group,
		       const struct rivals *rivals)
{
	u64 whole = rivals->whole_ns, rest = whole;
	size_t said = 0;

	for (size_t i = 0; i < rivals->count && said < SAID_MAX; i++) {
		const struct culprit *rival = &rivals->of[i];
		const char *name = rival->name;

		if (percent(rival->ns, whole) < NAMED_SHARE)
			break;
		if (!strcmp(name, RIVALS_OTHERS))
			continue;
		if (!strcmp(name, RIVALS_IDLE))
			name = "nobody (the CPU was idle)";
		else if (!strcmp(name, group->comm))
			name = group->processes > 1 ? "its own processes" : "its own threads";
		finding_say(finding, "%s%s %s", said++ ? ", " : "; ran instead: ", ESCAPED(name),
			    SHARE(rival->ns, whole));
		rest -= rival->ns < rest ? rival->ns : rest;
	}
	if (said && percent(rest, whole) >= NAMED_SHARE)
		finding_say(finding, ", other or not known %s", SHARE(rest, whole));
	for (u32 policy = 0; policy < 8; policy++)
		if (percent(rivals->by_policy[policy].ns, whole) >= NAMED_SHARE) {
			finding_say(finding, "; %s (%u) has scheduling policy %s",
				    ESCAPED(rivals->by_policy[policy].comm),
				    rivals->by_policy[policy].tid, policy_name(policy));
			finding_evidence(finding, "policy", policy_name(policy),
					 percent(rivals->by_policy[policy].ns, whole), "%",
					 BASE_QUEUE);
		}
}

static void tell_queue(const struct digest *digest, u32 index, struct findings *findings)
{
	const struct group *group = hash_item(&digest->groups, index);
	const struct account *account = &group->account;
	u64 queue = account->ns[STATE_RUNQ_WOKEN] + account->ns[STATE_RUNQ_PREEMPTED];
	u64 could = account_cpu(account) + account_runq(account);
	struct rivals rivals;
	struct finding *finding;
	char who[DIGEST_TEXT];

	if (percent(queue, could) < WORTH_SHARE ||
	    percent(queue, digest_span(digest)) < LEAST_SHARE)
		return;
	finding = finding_add(findings, "cpu-wait", finding_severity(digest, queue), queue);
	if (!finding)
		return;
	rivals_of_group(digest, index, &rivals);
	finding_set_group(finding, digest, group);
	finding_evidence(finding, "waited", NULL, (double)queue, "ns", NULL);
	finding_evidence(finding, "share", NULL, percent(queue, could), "%", BASE_RUN);
	finding_name(finding, "ran_instead", rivals.of, rivals.count, queue, BASE_QUEUE);
	finding_subject_text(finding, who, sizeof(who));
	finding_say(finding, "%s waited %s for a CPU, %s of the time it could run", who,
		    DURATION(queue), SHARE(queue, could));
	say_rivals(finding, group, &rivals);
	finding_say(finding, ".");
	finding_advise(finding, "Give it more CPUs or a higher priority, or move the others away.");
}

static const struct cgroup_limit *limit_of(const struct digest *digest, u32 group, u64 *ret_most,
					   const char **ret_cgroup)
{
	const struct process *worst = NULL;

	*ret_most = 0;
	for (size_t i = 0; i < digest->process_count; i++) {
		const struct process *process = &digest->processes[i];
		u64 ns = process->account.ns[STATE_RUNQ_THROTTLED];

		if (!process->is_present || process->group != group || ns <= *ret_most)
			continue;
		*ret_most = ns;
		worst = process;
	}
	*ret_cgroup = worst ? worst->cgroup : "";
	return worst ? digest_limit(digest, worst, LIMIT_CPU) : NULL;
}

static void tell_throttled(const struct digest *digest, u32 index, struct findings *findings)
{
	const struct group *group = hash_item(&digest->groups, index);
	u64 throttled = group->account.ns[STATE_RUNQ_THROTTLED], most;
	u64 could = account_cpu(&group->account) + account_runq(&group->account);
	const struct cgroup_limit *limit;
	const char *cgroup;
	struct finding *finding;
	char who[DIGEST_TEXT];

	if (percent(throttled, digest_span(digest)) < LEAST_SHARE)
		return;
	finding = finding_add(findings, "cpu-throttled", finding_severity(digest, throttled),
			      throttled);
	if (!finding)
		return;
	limit = limit_of(digest, index, &most, &cgroup);
	finding_set_group(finding, digest, group);
	finding_evidence(finding, "throttled", NULL, (double)throttled, "ns", NULL);
	finding_evidence(finding, "share", NULL, percent(throttled, could), "%", BASE_RUN);
	finding_subject_text(finding, who, sizeof(who));
	finding_say(finding, "%s was throttled for %s, %s of the time it could run: ", who,
		    DURATION(throttled), SHARE(throttled, could));
	cgroup = limit ? limit->set_by[LIMIT_CPU] : cgroup;
	if (*cgroup)
		finding_evidence(finding, "cgroup", cgroup, (double)throttled, "ns", NULL);
	finding_say(finding, "the CPU quota of cgroup %s",
		    *cgroup ? ESCAPED(cgroup) : "(not known)");
	if (limit) {
		finding_evidence(finding, "quota", NULL,
				 percent(limit->cpu_quota_us, limit->cpu_period_us), "%",
				 BASE_ONE_CPU);
		finding_say(finding, ", %s of one CPU,",
			    SHARE(limit->cpu_quota_us, limit->cpu_period_us));
		if (limit->nr_throttled)
			finding_evidence(finding, "periods_throttled", NULL,
					 (double)limit->nr_throttled, "count", NULL);
	}
	finding_say(finding, " was used up.");
	finding_advise(finding, "Raise cpu.max of that cgroup, or use less CPU.");
}

static bool is_saturated(const struct digest *digest)
{
	u64 idle = 0, wall = 0;

	for (size_t i = 0; i < digest->cpus.count; i++) {
		const struct cpu_row *cpu = hash_item(&digest->cpus, i);

		idle += cpu->ns[CPU_USE_IDLE];
		for (int use = 0; use < CPU_USE_COUNT; use++)
			wall += cpu->ns[use];
	}
	return wall && percent(idle, wall) < SATURATED_IDLE;
}

/* Where the CPUs are used up, who waits for one because of whom is the next thing to be asked. */
static void put_first(struct findings *findings)
{
	struct finding *longest = NULL;

	for (size_t i = 0; i < findings->count; i++) {
		struct finding *finding = &findings->of[i];

		if (!strcmp(finding->id, "cpu-wait") && finding->severity == SEVERITY_PROBLEM &&
		    (!longest || finding->weight_ns > longest->weight_ns))
			longest = finding;
	}
	if (longest)
		longest->weight_ns = ~0ULL;
}

void find_queue(const struct digest *digest, struct findings *findings)
{
	for (u32 i = 0; i < digest->groups.count; i++) {
		tell_queue(digest, i, findings);
		tell_throttled(digest, i, findings);
	}
	if (!*digest_meta(digest, "command") && is_saturated(digest))
		put_first(findings);
}
