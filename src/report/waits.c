// SPDX-License-Identifier: Apache-2.0
#include "waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/text.h"
#include "format.h"

static const u8 kinds[STATE_LIMIT] = {
	[STATE_BLOCKED_LOCK] = WAIT_LOCK,	   [STATE_BLOCKED_KERNEL_LOCK] = WAIT_KERNEL_LOCK,
	[STATE_BLOCKED_SIGNALLED] = WAIT_HANDOVER, [STATE_BLOCKED_NET] = WAIT_NET,
	[STATE_BLOCKED_PIPE] = WAIT_PIPE,	   [STATE_BLOCKED_IPC] = WAIT_PIPE,
	[STATE_BLOCKED_DISK] = WAIT_DISK,	   [STATE_BLOCKED_DISK_HELD] = WAIT_DISK_HELD,
	[STATE_BLOCKED_MEMORY] = WAIT_MEMORY,	   [STATE_BLOCKED_PAGEIN] = WAIT_PAGEIN,
	[STATE_BLOCKED_OTHER] = WAIT_UNCLEAR,
};

bool cause_is_timeout(const struct digest *digest, u32 state, u32 call)
{
	char buf[64];
	const char *name = digest_call_name(digest, call, buf, sizeof(buf));

	return state == STATE_BLOCKED_SLEEP && call && strcmp(name, "nanosleep") != 0 &&
	       strcmp(name, "clock_nanosleep") != 0;
}

/* Where nothing came in, nobody failed to answer. */
static bool is_listener(const struct digest *digest, u64 id)
{
	static const char start[] = "listening on ";
	const struct object *object = id ? hash_find(&digest->objects, &id) : NULL;

	return object && !strncmp(object->name, start, sizeof(start) - 1);
}

static u32 kind_of(const struct digest *digest, const struct cause *cause)
{
	if (cause_is_timeout(digest, cause->state, cause->call))
		return is_listener(digest, cause->object) ? WAIT_NONE : WAIT_TIMEOUT;
	return kinds[cause->state];
}

/* Where each object has a wait of its own. */
static bool is_by_object(u32 kind)
{
	return kind == WAIT_LOCK || kind == WAIT_KERNEL_LOCK || kind == WAIT_NET ||
	       kind == WAIT_PIPE || kind == WAIT_TIMEOUT;
}

static void make_key(const struct digest *digest, const struct cause *cause, u32 kind,
		     struct wait *ret_key)
{
	const struct thread *thread = &digest->threads[cause->thread];

	*ret_key = (struct wait){
		.group = digest->processes[thread->process].group,
		.kind = kind,
		.state = cause->state,
		.process = kind == WAIT_LOCK ? 1 + thread->process : 0,
	};
	if (kind == WAIT_TIMEOUT)
		format_cause(digest, cause, ret_key->name, sizeof(ret_key->name));
	else if (is_by_object(kind))
		format_object(digest, cause->object, ret_key->name, sizeof(ret_key->name));
}

static int add_part(struct waits *waits, u32 wait, enum wait_role role, u64 id, u64 more, u64 ns,
		    u64 count)
{
	struct wait_part *part =
		hash_add(&waits->parts,
			 &(struct wait_part){.wait = wait, .role = role, .id = id, .more = more});

	if (!part)
		return -ENOMEM;
	part->ns = profile_add(part->ns, ns);
	part->count = profile_add(part->count, count);
	return 0;
}

static int add_cause(const struct digest *digest, struct waits *waits, const struct cause *cause)
{
	u32 kind = kind_of(digest, cause), index, process = digest->threads[cause->thread].process;
	struct wait key, *wait;
	int err;

	if (kind == WAIT_NONE || !cause->ns)
		return 0;
	make_key(digest, cause, kind, &key);
	wait = hash_add(&waits->waits, &key);
	if (!wait)
		return -ENOMEM;
	index = (u32)(wait - (struct wait *)waits->waits.items);
	wait->ns = profile_add(wait->ns, cause->ns);
	wait->count = profile_add(wait->count, cause->count);
	err = add_part(waits, index, ROLE_THREAD, cause->thread, 0, cause->ns, cause->count);
	if (!err)
		err = add_part(waits, index, ROLE_PROCESS, process, 0, cause->ns, cause->count);
	if (!err)
		err = add_part(waits, index, ROLE_OBJECT, cause->object, cause->call, cause->ns,
			       cause->count);
	if (!err && cause->holder)
		err = add_part(waits, index, ROLE_HOLDER, cause->holder, 0, cause->ns,
			       cause->count);
	return err;
}

static int add_waker(const struct digest *digest, struct waits *waits,
		     const struct cause_waker *waker)
{
	const struct cause cause = {.object = waker->object,
				    .thread = waker->thread,
				    .call = waker->call,
				    .state = waker->state};
	const struct thread *thread = &digest->threads[waker->thread];
	u32 kind = kind_of(digest, &cause);
	const struct wait *wait;
	struct wait key;

	if (kind == WAIT_NONE || !waker->waker_kind || !waker->ns || thread->is_dormant ||
	    !digest_shows(digest, thread))
		return 0;
	make_key(digest, &cause, kind, &key);
	wait = hash_find(&waits->waits, &key);
	if (!wait)
		return 0;
	return add_part(waits, (u32)(wait - (struct wait *)waits->waits.items), ROLE_WAKER,
			waker->waker, waker->waker_kind, waker->ns, waker->count);
}

static int by_wait(const void *a, const void *b)
{
	const struct wait_part *x = a, *y = b;

	if (x->wait != y->wait)
		return x->wait < y->wait ? -1 : 1;
	if (x->role != y->role)
		return x->role < y->role ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return memcmp(x, y, WAIT_PART_KEY_BYTES);
}

static void sort_parts(struct waits *waits)
{
	size_t count;

	if (waits->parts.count)
		qsort(waits->parts.items, waits->parts.count, sizeof(struct wait_part), by_wait);
	for (size_t i = 0; i < waits->parts.count; i++) {
		const struct wait_part *part = hash_item(&waits->parts, i);
		struct wait *wait = hash_item(&waits->waits, part->wait);

		wait->first_part = wait->part_count ? wait->first_part : i;
		wait->part_count++;
	}
	for (size_t i = 0; i < waits->waits.count; i++) {
		struct wait *wait = hash_item(&waits->waits, i);
		const struct wait_part *part = wait_parts(waits, wait, ROLE_PROCESS, &count);

		wait->worst = count ? (u32)part->id : 0;
	}
}

int waits_find(const struct digest *digest, struct waits *ret_waits)
{
	int err = 0;

	hash_init(&ret_waits->waits, sizeof(struct wait), WAIT_KEY_BYTES, DIGEST_ROWS_MAX);
	hash_init(&ret_waits->parts, sizeof(struct wait_part), WAIT_PART_KEY_BYTES,
		  DIGEST_ROWS_MAX);
	for (size_t i = 0; !err && i < digest->causes.count; i++) {
		const struct cause *cause = hash_item(&digest->causes, i);
		const struct thread *thread = &digest->threads[cause->thread];

		if (digest_shows(digest, thread) && !thread->is_dormant)
			err = add_cause(digest, ret_waits, cause);
	}
	for (size_t i = 0; !err && i < digest->wakers.count; i++)
		err = add_waker(digest, ret_waits, hash_item(&digest->wakers, i));
	sort_parts(ret_waits);
	return err;
}

void waits_free(struct waits *waits)
{
	hash_free(&waits->waits);
	hash_free(&waits->parts);
}

const struct wait_part *wait_parts(const struct waits *waits, const struct wait *wait,
				   enum wait_role role, size_t *ret_count)
{
	const struct wait_part *first = NULL;

	*ret_count = 0;
	for (size_t i = 0; i < wait->part_count; i++) {
		const struct wait_part *part = hash_item(&waits->parts, wait->first_part + i);

		if (part->role != (u32)role)
			continue;
		first = first ? first : part;
		(*ret_count)++;
	}
	return first;
}

void culprit_add(struct culprit culprits[CULPRITS_MAX], size_t *count, const char *name, u32 pid,
		 u32 tid, u64 ns)
{
	size_t at = 0;

	while (at < *count && strcmp(culprits[at].name, name) != 0)
		at++;
	if (at == CULPRITS_MAX)
		return;
	if (at == *count) {
		(*count)++;
		culprits[at] = (struct culprit){.pid = pid, .tid = tid};
		text_copy(culprits[at].name, sizeof(culprits[at].name), name);
	}
	culprits[at].threads++;
	culprits[at].ns = profile_add(culprits[at].ns, ns);
}

static int by_ns(const void *a, const void *b)
{
	const struct culprit *x = a, *y = b;

	return x->ns != y->ns ? (x->ns > y->ns ? -1 : 1) : strcmp(x->name, y->name);
}

void culprits_sort(struct culprit culprits[CULPRITS_MAX], size_t count)
{
	qsort(culprits, count, sizeof(culprits[0]), by_ns);
}

size_t wait_culprits(const struct digest *digest, const struct waits *waits,
		     const struct wait *wait, enum wait_role role,
		     struct culprit culprits[CULPRITS_MAX])
{
	size_t parts, count = 0;
	const struct wait_part *part = wait_parts(waits, wait, role, &parts);

	for (size_t i = 0; i < parts; i++, part++) {
		const struct thread *thread =
			part->id ? digest_by_tid(digest, (u32)part->id) : NULL;
		char name[DIGEST_TEXT];

		if (thread && *thread->comm)
			text_copy(name, sizeof(name), thread->comm);
		else if (part->id)
			snprintf(name, sizeof(name), "tid %u", (u32)part->id);
		else
			text_copy(name, sizeof(name), context_name((u32)part->more));
		if (*name)
			culprit_add(culprits, &count, name, thread ? thread->pid : 0, (u32)part->id,
				    part->ns);
	}
	culprits_sort(culprits, count);
	return count;
}
