// SPDX-License-Identifier: Apache-2.0
/* Waits for disks and memory: the device, or a limit of a cgroup. */
#include <inttypes.h>

#include "finding_wait.h"
#include "format.h"

static const struct account *account_of(const struct wait_context *context)
{
	const struct group *group = hash_item(&context->digest->groups, context->wait->group);

	return &group->account;
}

/* The process that waited longest. */
static const struct process *process_of(const struct wait_context *context)
{
	return &context->digest->processes[context->wait->worst];
}

void finding_tell_disk(const struct wait_context *context)
{
	struct finding *finding = context->finding;
	const struct account *account = account_of(context);
	u64 device = account->ns[STATE_BLOCKED_DISK], held = account->ns[STATE_BLOCKED_DISK_HELD];

	finding_say_who(context);
	finding_say(finding, " for a disk");
	finding_evidence(finding, "device_share", NULL, percent(device, device + held), "%",
			 BASE_DISK);
	finding_say_objects(context);
	finding_advise(finding, "-s block has queue and service time of each disk, -s files the "
				"files.");
}

void finding_tell_held(const struct wait_context *context)
{
	struct finding *finding = context->finding;
	const struct account *account = account_of(context);
	u64 device = account->ns[STATE_BLOCKED_DISK], held = account->ns[STATE_BLOCKED_DISK_HELD];
	const char *cgroup = process_of(context)->cgroup;
	const struct cgroup_limit *limit =
		digest_limit(context->digest, process_of(context), LIMIT_IO);

	finding_say_who(context);
	finding_say(finding,
		    " with requests held back before the disk had them (%s of its waits "
		    "for disks)",
		    SHARE(held, device + held));
	finding_evidence(finding, "held_share", NULL, percent(held, device + held), "%", BASE_DISK);
	if (limit) {
		finding_say(finding, ": the I/O limit of cgroup %s, %s",
			    ESCAPED(limit->set_by[LIMIT_IO]), ESCAPED(limit->io_limit));
		finding_evidence(finding, "cgroup", limit->set_by[LIMIT_IO],
				 (double)context->wait->ns, "ns", NULL);
		finding_evidence(finding, "limit", limit->io_limit, (double)context->wait->ns, "ns",
				 NULL);
		finding_advise(finding, "Raise io.max of that cgroup, or do less I/O: the disk is "
					"not the limit.");
	} else {
		finding_say(finding, ": an I/O limit or a full request queue");
		if (*cgroup)
			finding_evidence(finding, "cgroup", cgroup, (double)context->wait->ns, "ns",
					 NULL);
	}
	finding_say_objects(context);
}

void finding_tell_memory(const struct wait_context *context)
{
	struct finding *finding = context->finding;
	const char *cgroup = process_of(context)->cgroup;
	const struct cgroup_limit *limit =
		digest_limit(context->digest, process_of(context), LIMIT_MEMORY);
	u64 bytes = !limit ? 0 : limit->memory_high ? limit->memory_high : limit->memory_max;

	finding_say_who(context);
	finding_say(finding, " for memory to be reclaimed");
	if (limit) {
		const char *name = limit->memory_high ? "memory.high" : "memory.max";

		finding_say(finding, ": cgroup %s has %s %s", ESCAPED(limit->set_by[LIMIT_MEMORY]),
			    name, BYTES(bytes));
		finding_evidence(finding, "cgroup", limit->set_by[LIMIT_MEMORY],
				 (double)context->wait->ns, "ns", NULL);
		finding_evidence(finding, "limit", name, (double)bytes, "bytes", NULL);
		finding_advise(finding, "Raise %s of that cgroup, or use less memory.", name);
	} else if (*cgroup) {
		finding_evidence(finding, "cgroup", cgroup, (double)context->wait->ns, "ns", NULL);
	}
}
