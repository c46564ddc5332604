// SPDX-License-Identifier: Apache-2.0
/* Waits inside work: for whom or what, how long, and who is to blame, by time. */
#include "finding_wait.h"

#include <errno.h>
#include <string.h>

#include "../base/cleanup.h"
#include "format.h"
#include "hot_function.h"

#define HANDED_SHARE                                                                               \
	5.0 /* percent of their waits that threads are on a CPU: less is waiting for work */
#define MOSTLY_SHARE 50.0 /* percent of a thread's own time */
#define WORK_SHARE   1.0  /* percent of its wait: who works less waits for work */
#define WORTH_SHARE  0.1  /* percent of the time shown: less is left out */

static const char *const ids[] = {
	[WAIT_LOCK] = "lock-wait",	   [WAIT_KERNEL_LOCK] = "kernel-lock-wait",
	[WAIT_HANDOVER] = "handover-wait", [WAIT_NET] = "net-wait",
	[WAIT_PIPE] = "pipe-wait",	   [WAIT_DISK] = "disk-wait",
	[WAIT_DISK_HELD] = "disk-held",	   [WAIT_MEMORY] = "memory-wait",
	[WAIT_PAGEIN] = "page-in",	   [WAIT_TIMEOUT] = "timeout",
	[WAIT_UNCLEAR] = "unclear-wait",
};

/* The thread that it kept longest, by its own wall time. */
static void add_threads(struct finding *finding, const struct wait_context *context)
{
	const struct digest *digest = context->digest;
	size_t count;
	const struct wait_part *part =
		wait_parts(context->waits, context->wait, ROLE_THREAD, &count);
	const struct thread *worst = &digest->threads[part->id];

	finding_evidence(finding, "waited", NULL, (double)context->wait->ns, "ns", NULL);
	finding_evidence(finding, "waits", NULL, (double)context->wait->count, "count", NULL);
	finding_evidence(finding, "threads", NULL, (double)count, "count", NULL);
	finding_evidence(finding, "longest", worst->comm,
			 percent(part->ns, thread_wall_ns(digest, worst)), "%", BASE_WALL);
}

static void add_place(struct finding *finding, const struct wait_context *context, bool in_kernel)
{
	struct hot_function place;

	if (hot_function_in_state(context->digest, context->wait->group, context->wait->state,
				  in_kernel, context->places, &place))
		*context->err = -ENOMEM;
	if (!*place.function)
		return;
	finding_evidence(finding, "function", place.function, place.share, "%", BASE_BLOCKED);
	finding_say(finding, "; in %s", ESCAPED(place.function));
}

static void tell_lock(const struct wait_context *context)
{
	struct finding *finding = context->finding;
	const char *name = context->wait->name;

	finding_say_who(context);
	finding_say(finding, " for the lock %s", *name ? ESCAPED(name) : "(not known)");
	finding_evidence(finding, "object", name, (double)context->wait->ns, "ns", NULL);
	finding_add_culprits(context, ROLE_HOLDER, "holder", "; held by ");
	add_place(finding, context, false);
	finding_advise(finding, "See what the holder does: --why blocked.lock; -s locks has its "
				"stacks.");
}

static void tell_kernel_lock(const struct wait_context *context)
{
	struct finding *finding = context->finding;
	const char *name = context->wait->name;

	finding_say_who(context);
	finding_say(finding, " for a lock of the kernel%s%s", *name ? ", " : "",
		    *name ? ESCAPED(name) : "");
	if (*name)
		finding_evidence(finding, "object", name, (double)context->wait->ns, "ns", NULL);
	add_place(finding, context, true);
	finding_add_culprits(context, ROLE_HOLDER, "holder", "; held by ");
	finding_add_culprits(context, ROLE_WAKER, "waker", "; ended by ");
	finding_advise(finding, "-s locks names locks of the kernel; --why blocked.kernel-lock has "
				"the stacks.");
}

static void tell_handover(const struct wait_context *context)
{
	struct finding *finding = context->finding;

	finding_say_who(context);
	finding_say(finding, " for other threads of the process");
	add_place(finding, context, false);
	finding_add_culprits(context, ROLE_WAKER, "waker", "; ended by ");
	finding_advise(finding, "--why blocked.signalled has the stacks of both sides.");
}

static void tell_pipe(const struct wait_context *context)
{
	struct finding *finding = context->finding;
	const char *name = context->wait->name;

	finding_say_who(context);
	finding_say(finding, context->wait->state == STATE_BLOCKED_IPC ? " for another process"
								       : " for a pipe or device");
	if (*name)
		finding_evidence(finding, "peer", name, (double)context->wait->ns, "ns", NULL);
	finding_say_objects(context);
	finding_add_culprits(context, ROLE_WAKER, "waker", "; ended by ");
}

static void tell_simple(const struct wait_context *context, const char *what)
{
	finding_say_who(context);
	finding_say(context->finding, " for %s", what);
	finding_say_objects(context);
}

static void tell_unclear(const struct wait_context *context)
{
	tell_simple(context, "something dwell could not name");
	finding_advise(context->finding, "--why blocked.other has the stacks.");
}

static void tell_pagein(const struct wait_context *context)
{
	tell_simple(context, "pages to be read from a file or swap");
	finding_advise(context->finding, "The working set is larger than the memory it may use; "
					 "-s faults shows where.");
}

/* Each finishes the sentence; the full stop comes after. */
static void tell(const struct wait_context *context)
{
	switch (context->wait->kind) {
	case WAIT_LOCK:
		tell_lock(context);
		break;
	case WAIT_KERNEL_LOCK:
		tell_kernel_lock(context);
		break;
	case WAIT_HANDOVER:
		tell_handover(context);
		break;
	case WAIT_NET:
		finding_tell_net(context);
		break;
	case WAIT_PIPE:
		tell_pipe(context);
		break;
	case WAIT_DISK:
		finding_tell_disk(context);
		break;
	case WAIT_DISK_HELD:
		finding_tell_held(context);
		break;
	case WAIT_MEMORY:
		finding_tell_memory(context);
		break;
	case WAIT_PAGEIN:
		tell_pagein(context);
		break;
	case WAIT_TIMEOUT:
		finding_tell_timeout(context);
		break;
	case WAIT_UNCLEAR:
		tell_unclear(context);
		break;
	}
}

static bool is_input(const struct digest *digest, const struct waits *waits,
		     const struct wait *wait)
{
	static const char *const calls[] = {"write",	"writev", "sendto",   "sendmsg",
					    "pwritev2", "splice", "vmsplice", "tee"};
	size_t count;
	const struct wait_part *part = wait_parts(waits, wait, ROLE_OBJECT, &count);
	char buf[64];
	const char *call = digest_call_name(digest, (u32)part->more, buf, sizeof(buf));

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (!strcmp(call, calls[i]))
			return false;
	return true;
}

/* Who does next to nothing but wait for input, waits for work; who also works is kept from it. */
static enum severity severity_of_input(const struct digest *digest, const struct wait *wait)
{
	const struct account *account = &digest->processes[wait->worst].account;
	u64 work = account_cpu(account) + account_runq(account);

	return percent(work, wait->ns) < WORK_SHARE ? SEVERITY_INFO : SEVERITY_NOTICE;
}

/* Threads that do next to nothing but wait to be handed work: nobody is late with it. */
static bool waits_for_work(const struct digest *digest, const struct waits *waits,
			   const struct wait *wait)
{
	size_t count;
	const struct wait_part *part = wait_parts(waits, wait, ROLE_THREAD, &count);
	u64 work = 0, waited = 0;

	for (size_t i = 0; i < count; i++) {
		const struct thread *thread = &digest->threads[part[i].id];
		struct account account;

		thread_account(digest, thread, &account);
		if (percent(part[i].ns, account_sum(&account)) < MOSTLY_SHARE)
			continue;
		work += account_cpu(&account);
		waited += part[i].ns;
	}
	return percent(work, waited) < HANDED_SHARE;
}

static enum severity severity_of(const struct digest *digest, const struct wait *wait,
				 const struct waits *waits)
{
	enum severity severity = finding_severity(digest, wait->ns);

	if (wait->kind == WAIT_TIMEOUT && !finding_expects_answer(digest, waits, wait))
		return SEVERITY_INFO;
	if (wait->kind == WAIT_PIPE && severity > SEVERITY_INFO && is_input(digest, waits, wait))
		return severity_of_input(digest, wait);
	if (wait->kind == WAIT_HANDOVER && severity == SEVERITY_PROBLEM &&
	    waits_for_work(digest, waits, wait))
		return SEVERITY_NOTICE;
	if (wait->kind == WAIT_UNCLEAR && severity == SEVERITY_PROBLEM)
		return SEVERITY_NOTICE;
	return severity;
}

static void describe(const struct wait_context *context, struct findings *findings)
{
	add_threads(context->finding, context);
	tell(context);
	finding_say_chain(context, findings);
	finding_say(context->finding, ".");
}

int find_waits(const struct digest *digest, struct findings *findings)
{
	struct hash places;
	struct waits waits;
	int err = waits_find(digest, &waits);

	hot_functions_init(&places);
	for (size_t i = 0; !err && i < waits.waits.count; i++) {
		const struct wait *wait = hash_item(&waits.waits, i);
		struct wait_context context = {.digest = digest,
					       .waits = &waits,
					       .wait = wait,
					       .err = &err,
					       .places = &places};

		if (percent(wait->ns, digest_span(digest)) < WORTH_SHARE || !wait->part_count)
			continue;
		context.finding = finding_add(findings, ids[wait->kind],
					      severity_of(digest, wait, &waits), wait->ns);
		if (!context.finding)
			continue;
		if (wait->process)
			finding_set_process(context.finding, &digest->processes[wait->process - 1]);
		else
			finding_set_group(context.finding, digest,
					  hash_item(&digest->groups, wait->group));
		describe(&context, findings);
	}
	if (!err)
		find_pools(digest, &waits, findings);
	hash_free(&places);
	waits_free(&waits);
	return err;
}
