// SPDX-License-Identifier: Apache-2.0
/* Waits for peers: who they are, what is behind them on this host, and answers that never came. */
#include <string.h>

#include "../base/cleanup.h"
#include "finding_wait.h"
#include "format.h"

/* The processes on this host behind a peer, by what they are known to have ended or held. */
static size_t find_local(const struct wait_context *context, struct culprit culprits[CULPRITS_MAX],
			 u64 *ret_whole)
{
	const struct digest *digest = context->digest;
	size_t count = 0;

	*ret_whole = 0;
	for (size_t i = 0; i < digest->chains.count; i++) {
		const struct chain_part *part = hash_item(&digest->chains, i);
		const struct thread *thread = &digest->threads[part->thread];
		char name[DIGEST_TEXT];

		if (part->state != context->wait->state || !part->culprit_tid ||
		    !digest_shows(digest, thread) ||
		    digest->processes[thread->process].group != context->wait->group)
			continue;
		format_object(digest, part->object, name, sizeof(name));
		if (strcmp(name, context->wait->name) != 0)
			continue;
		*ret_whole = profile_add(*ret_whole, part->ns);
		culprit_add(culprits, &count, part->culprit_comm, part->culprit_pid,
			    part->culprit_tid, part->ns);
	}
	culprits_sort(culprits, count);
	return count;
}

static void say_local(const struct wait_context *context)
{
	struct culprit culprits[CULPRITS_MAX];
	u64 whole;
	size_t count = find_local(context, culprits, &whole);
	const struct process *listener;

	listener = finding_listener(context->digest, context->wait->name);
	if (!culprits_are_named(culprits, count, whole) && listener) {
		finding_evidence(context->finding, "listener", listener->comm,
				 (double)context->wait->ns, "ns", NULL);
		finding_say(context->finding, "; %s (pid %u) listens there",
			    ESCAPED(listener->comm), listener->pid);
		return;
	}
	if (!culprits_are_named(culprits, count, whole)) {
		/* A thread that sent over the loopback device ends the wait itself. */
		finding_add_culprits(context, ROLE_WAKER, "waker", "; ended by ");
		return;
	}
	finding_name(context->finding, "local_process", culprits, count, whole, BASE_FOLLOWED);
	finding_say(context->finding, "; behind it on this host: %s (pid %u)",
		    ESCAPED(culprits[0].name), culprits[0].pid);
}

/* Data that was held back until the peer acknowledged what came before. */
static void say_nagle(const struct wait_context *context)
{
	size_t count;
	const struct wait_part *part =
		wait_parts(context->waits, context->wait, ROLE_WAKER, &count);
	u64 ns = 0, waits = 0;

	for (size_t i = 0; i < count; i++) {
		ns += part[i].more == WAKER_NAGLE ? part[i].ns : 0;
		waits += part[i].more == WAKER_NAGLE ? part[i].count : 0;
	}
	if (percent(ns, context->wait->ns) < NAMED_SHARE)
		return;
	context->finding->id = "nagle";
	finding_evidence(context->finding, "delayed_ack", NULL, (double)ns, "ns", NULL);
	finding_evidence(context->finding, "delayed_acks", NULL, (double)waits, "count", NULL);
	finding_say(context->finding,
		    "; %s of it, %s times, its own data was held back until the peer acknowledged "
		    "(Nagle and delayed ACK)",
		    DURATION(ns), NUMBER(waits));
	finding_advise(context->finding, "Set TCP_NODELAY, or write each request in one call.");
}

void finding_tell_net(const struct wait_context *context)
{
	struct finding *finding = context->finding;
	const char *name = context->wait->name;

	finding_say_who(context);
	finding_say(finding, " for %s", *name ? ESCAPED(name) : "a peer that is not known");
	finding_evidence(finding, "peer", name, (double)context->wait->ns, "ns", NULL);
	say_local(context);
	say_nagle(context);
	if (!*finding->action)
		finding_advise(finding, "-s tcp has each connection's round trips and "
					"retransmits.");
}

/* A socket or a pipe was waited for, or an answer was to be received. */
bool finding_expects_answer(const struct digest *digest, const struct waits *waits,
			    const struct wait *wait)
{
	static const char *const calls[] = {"recvfrom", "recvmsg", "recvmmsg", "connect",
					    "sendto",	"sendmsg", "read"};
	size_t count;
	const struct wait_part *part = wait_parts(waits, wait, ROLE_OBJECT, &count);
	const struct object *object = count ? hash_find(&digest->objects, &part->id) : NULL;
	char buf[64];
	const char *call = count ? digest_call_name(digest, (u32)part->more, buf, sizeof(buf)) : "";

	if (object && (object->kind == OBJECT_TCP || object->kind == OBJECT_UDP ||
		       object->kind == OBJECT_UNIX || object->kind == OBJECT_SOCKET))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (!strcmp(call, calls[i]))
			return true;
	return false;
}

void finding_tell_timeout(const struct wait_context *context)
{
	struct finding *finding = context->finding;
	size_t count;
	const struct wait_part *part =
		wait_parts(context->waits, context->wait, ROLE_OBJECT, &count);
	char who[DIGEST_TEXT], object[DIGEST_TEXT], buf[64];
	const char *call = digest_call_name(context->digest, (u32)part->more, buf, sizeof(buf));

	format_object(context->digest, part->id, object, sizeof(object));
	finding_evidence(finding, "call", call, (double)context->wait->count, "count", NULL);
	if (*object)
		finding_evidence(finding, "peer", object, (double)context->wait->ns, "ns", NULL);
	finding_subject_text(finding, who, sizeof(who));
	finding_say(finding, "%s: %s wait%s timed out after %s in sum: %s", who,
		    NUMBER(context->wait->count), context->wait->count == 1 ? "" : "s",
		    DURATION(context->wait->ns), call);
	if (*object)
		finding_say(finding, ", no answer from %s", ESCAPED(object));
	if (context->wait->count)
		finding_say(finding, "; %s each on average",
			    DURATION(context->wait->ns / context->wait->count));
}
