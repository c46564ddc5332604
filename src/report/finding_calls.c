// SPDX-License-Identifier: Apache-2.0
/* System calls: those that mostly fail, and those that cost most. Measured in Tier B. */
#include <errno.h>
#include <string.h>

#include "finding.h"
#include "format.h"
#include "hot_function.h"

#define FAILED_LEAST 100  /* calls */
#define FAILED_SHARE 50.0 /* percent of the calls */
#define WORTH_FAILED 1.0  /* percent of the time on a CPU */
#define WORTH_COST   20.0

struct group_call {
	u32 group, call;
	/* the key ends here */
	u64 count, failed, cpu_ns, total_ns;
};

static int sum_calls(const struct digest *digest, struct hash *ret_calls)
{
	hash_init(ret_calls, sizeof(struct group_call), 2 * sizeof(u32), DIGEST_ROWS_MAX);
	for (size_t i = 0; i < digest->calls.count; i++) {
		const struct call *call = hash_item(&digest->calls, i);
		const struct thread *thread = &digest->threads[call->thread];
		struct group_call *sum;

		if (!digest_shows(digest, thread) || !call->call)
			continue;
		sum = hash_add(ret_calls, &(struct group_call){
						  .group = digest->processes[thread->process].group,
						  .call = call->call});
		if (!sum)
			return -ENOMEM;
		sum->count += call->count;
		sum->failed += call->failed;
		sum->cpu_ns += call->cpu_ns;
		sum->total_ns += call->total_ns;
	}
	return 0;
}

/* Who calls what fails; what takes the time inside the kernel. */
static int say_place(struct finding *finding, const struct digest *digest, u32 group,
		     const char *call, bool is_failing)
{
	struct hot_function place;
	int err = hot_function_in_call(digest, group, call, !is_failing, &place);

	if (err || !*place.function)
		return err;
	finding_evidence(finding, "function", place.function, place.share, "%", BASE_CALL_SAMPLES);
	finding_say(finding, "; %.0f %% of its samples in %s", place.share,
		    ESCAPED(place.function));
	return 0;
}

/* One sentence that names the group's split too: it is what people ask next. */
static void tell_call(const struct digest *digest, const struct group_call *call,
		      struct findings *findings)
{
	const struct group *group = hash_item(&digest->groups, call->group);
	u64 cpu = account_cpu(&group->account);
	bool is_failing = call->failed >= FAILED_LEAST &&
			  percent(call->failed, call->count) > FAILED_SHARE &&
			  percent(call->cpu_ns, cpu) >= WORTH_FAILED;
	enum severity severity =
		is_failing ? finding_severity(digest, call->cpu_ns) : SEVERITY_NOTICE;
	char who[DIGEST_TEXT], buf[64];
	const char *name = digest_call_name(digest, call->call, buf, sizeof(buf));
	struct finding *finding;

	if (!is_failing && (percent(call->cpu_ns, cpu) < WORTH_COST ||
			    finding_severity(digest, call->cpu_ns) == SEVERITY_INFO))
		return;
	finding = finding_add(findings, is_failing ? "failed-calls" : "syscall-cost", severity,
			      call->cpu_ns);
	if (!finding)
		return;
	finding_set_group(finding, digest, group);
	finding_evidence(finding, "call", name, (double)call->count, "count", NULL);
	finding_evidence(finding, "failed", NULL, (double)call->failed, "count", NULL);
	finding_evidence(finding, "failed_share", NULL, percent(call->failed, call->count), "%",
			 BASE_CALLS);
	finding_evidence(finding, "cpu", NULL, (double)call->cpu_ns, "ns", NULL);
	finding_evidence(finding, "cpu_share", NULL, percent(call->cpu_ns, cpu), "%", BASE_USE);
	finding_evidence(finding, "system_share", NULL,
			 percent(group->account.ns[STATE_CPU_SYSCALL], cpu), "%", BASE_USE);
	finding_subject_text(finding, who, sizeof(who));
	finding_say(finding,
		    "%s spent %s of its time on a CPU in system calls, above all %s (%s): "
		    "%s call%s",
		    who, SHARE(group->account.ns[STATE_CPU_SYSCALL], cpu), ESCAPED(name),
		    SHARE(call->cpu_ns, cpu), NUMBER(call->count), call->count == 1 ? "" : "s");
	if (call->failed)
		finding_say(finding, ", of which %s failed (%s)", NUMBER(call->failed),
			    SHARE(call->failed, call->count));
	if (say_place(finding, digest, call->group, name, is_failing))
		findings->err = -ENOMEM;
	finding_say(finding, ".");
	finding_advise(finding, "-s syscalls has where they are called from.");
}

static u64 faults_of(const struct digest *digest, u32 group)
{
	u64 begun = 0;

	for (size_t i = 0; i < digest->thread_count; i++) {
		const struct thread *thread = &digest->threads[i];

		if (digest_shows(digest, thread) &&
		    digest->processes[thread->process].group == group)
			begun += thread->faults.begun;
	}
	return begun;
}

static void tell_faults(const struct digest *digest, u32 index, struct findings *findings)
{
	const struct group *group = hash_item(&digest->groups, index);
	u64 ns = group->account.ns[STATE_CPU_FAULT], cpu = account_cpu(&group->account), begun;
	struct finding *finding;
	char who[DIGEST_TEXT];

	if (percent(ns, cpu) < WORTH_COST || finding_severity(digest, ns) == SEVERITY_INFO)
		return;
	finding = finding_add(findings, "fault-cost", SEVERITY_NOTICE, ns);
	if (!finding)
		return;
	begun = faults_of(digest, index);
	finding_set_group(finding, digest, group);
	finding_evidence(finding, "faults", NULL, (double)begun, "count", NULL);
	finding_evidence(finding, "cpu", NULL, (double)ns, "ns", NULL);
	finding_evidence(finding, "cpu_share", NULL, percent(ns, cpu), "%", BASE_USE);
	finding_subject_text(finding, who, sizeof(who));
	finding_say(finding, "%s spent %s of its time on a CPU in %s page faults.", who,
		    SHARE(ns, cpu), NUMBER(begun));
	finding_advise(finding, "-s faults has where they happen.");
}

void find_calls(const struct digest *digest, struct findings *findings)
{
	struct hash calls;
	int err = sum_calls(digest, &calls);

	if (err)
		findings->err = err;
	/* Of each group the most expensive one, and all that mostly fail. */
	for (size_t i = 0; !err && i < calls.count; i++)
		tell_call(digest, hash_item(&calls, i), findings);
	hash_free(&calls);
	for (u32 i = 0; i < digest->groups.count; i++)
		tell_faults(digest, i, findings);
}
