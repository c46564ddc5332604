// SPDX-License-Identifier: Apache-2.0
#include "chain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/text.h"
#include "chain_text.h"

#define FOLLOW_SHARE 20 /* a part of less than one in so many explains nothing */

/* A wait of one thread that one culprit held up; opens with its key. */
struct head {
	u64 object;
	u32 thread, culprit;
	u32 state;
	u32 unused;
	/* the key ends here */
	u64 ns;
	u64 same_ns; /* of it, the culprit waited for the same thing itself */
	u32 pid;
	char comm[DIGEST_COMM];
};
#define HEAD_KEY_BYTES __builtin_offsetof(struct head, ns)

static int find_heads(const struct digest *digest, struct hash *ret_heads)
{
	hash_init(ret_heads, sizeof(struct head), HEAD_KEY_BYTES, DIGEST_ROWS_MAX);
	for (size_t i = 0; i < digest->chains.count; i++) {
		const struct chain_part *part = hash_item(&digest->chains, i);
		struct head *head;

		if (!part->culprit_tid)
			continue;
		head = hash_add(ret_heads, &(struct head){.object = part->object,
							  .thread = part->thread,
							  .culprit = part->culprit_tid,
							  .state = part->state});
		if (!head)
			return -ENOMEM;
		head->ns = profile_add(head->ns, part->ns);
		if (part->part_state == part->state && part->part_object == part->object)
			head->same_ns = profile_add(head->same_ns, part->ns);
		head->pid = part->culprit_pid;
		memcpy(head->comm, part->culprit_comm, sizeof(head->comm));
	}
	return 0;
}

/* Who stood in the same queue only passed it on: the one who held it explains more. */
static bool is_relay(const struct head *head)
{
	return head->same_ns > head->ns / 2;
}

static int by_ns(const void *a, const void *b)
{
	const struct head *x = *(const struct head *const *)a;
	const struct head *y = *(const struct head *const *)b;

	return x->ns != y->ns ? (x->ns > y->ns ? -1 : 1) : memcmp(x, y, HEAD_KEY_BYTES);
}

static int by_part(const void *a, const void *b)
{
	const struct link_part *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return memcmp(x, y, __builtin_offsetof(struct link_part, ns));
}

/* What a culprit did during one thread's wait. */
static int fill_link(const struct digest *digest, const struct head *head,
		     struct chain_link *ret_link)
{
	struct hash parts;

	*ret_link = (struct chain_link){.pid = head->pid, .tid = head->culprit};
	memcpy(ret_link->comm, head->comm, sizeof(ret_link->comm));
	hash_init(&parts, sizeof(struct link_part), __builtin_offsetof(struct link_part, ns),
		  DIGEST_ROWS_MAX);
	for (size_t i = 0; i < digest->chains.count; i++) {
		const struct chain_part *row = hash_item(&digest->chains, i);
		struct link_part *part;

		if (row->thread != head->thread || row->culprit_tid != head->culprit ||
		    row->state != head->state || row->object != head->object)
			continue;
		ret_link->ns = profile_add(ret_link->ns, row->ns);
		if (row->part_state == STATE_UNATTRIBUTED) {
			ret_link->unknown_ns = profile_add(ret_link->unknown_ns, row->ns);
			continue;
		}
		part = hash_add(&parts, &(struct link_part){.culprit = row->part_culprit,
							    .call = row->part_call,
							    .state = row->part_state,
							    .object = row->part_object});
		if (!part) {
			hash_free(&parts);
			return -ENOMEM;
		}
		part->ns = profile_add(part->ns, row->ns);
	}
	if (parts.count)
		qsort(parts.items, parts.count, sizeof(struct link_part), by_part);
	for (size_t i = 0; i < parts.count; i++) {
		const struct link_part *part = hash_item(&parts, i);

		if (ret_link->part_count < CHAIN_PARTS_MAX)
			ret_link->parts[ret_link->part_count++] = *part;
		else
			ret_link->other_ns = profile_add(ret_link->other_ns, part->ns);
	}
	ret_link->next = ret_link->part_count;
	hash_free(&parts);
	return 0;
}

static bool is_in_chain(const struct digest *digest, const struct chain *chain, u32 tid)
{
	if (digest->threads[chain->thread].tid == tid)
		return true;
	for (size_t i = 0; i < chain->link_count; i++)
		if (chain->links[i].tid == tid)
			return true;
	return false;
}

static const struct head *find_head(const struct digest *digest, const struct hash *heads,
				    u32 waiter, const struct link_part *part)
{
	const struct thread *thread = digest_by_tid(digest, waiter);
	struct head key = {.object = part->object, .culprit = part->culprit, .state = part->state};

	if (!thread)
		return NULL;
	key.thread = (u32)(thread - digest->threads);
	return hash_find(heads, &key);
}

/* The longest part of the last link that was itself a wait for somebody who is not in it yet. */
static int extend(const struct digest *digest, const struct hash *heads, struct chain *chain,
		  bool *ret_is_longer)
{
	struct chain_link *last = &chain->links[chain->link_count - 1], *next;

	*ret_is_longer = false;
	for (size_t i = 0; i < last->part_count; i++) {
		const struct link_part *part = &last->parts[i];
		const struct head *head;
		const struct thread *culprit;

		if (!part->culprit || is_in_chain(digest, chain, part->culprit) ||
		    part->state <= STATE_RUNQ_THROTTLED || part->ns < last->ns / FOLLOW_SHARE)
			continue;
		/* Who waits for the same thing itself leads in circles. */
		if (part->object && part->object == chain->object && part->state == chain->state)
			continue;
		last->next = i;
		next = &chain->links[chain->link_count++];
		*ret_is_longer = true;
		head = find_head(digest, heads, last->tid, part);
		if (head)
			return fill_link(digest, head, next);
		/* Who it was is known, not what it did. */
		*next = (struct chain_link){
			.tid = part->culprit, .ns = part->ns, .unknown_ns = part->ns};
		culprit = digest_by_tid(digest, part->culprit);
		if (culprit) {
			next->pid = culprit->pid;
			memcpy(next->comm, culprit->comm, sizeof(next->comm));
		}
		return 0;
	}
	return 0;
}

static int compose(const struct digest *digest, const struct hash *heads, const struct head *head,
		   struct chain *ret_chain)
{
	bool is_longer = true;
	int err;

	*ret_chain = (struct chain){.thread = head->thread,
				    .state = (u8)head->state,
				    .object = head->object,
				    .ns = head->ns};
	err = fill_link(digest, head, &ret_chain->links[0]);
	ret_chain->link_count = 1;
	while (!err && is_longer && ret_chain->link_count < CHAIN_LINKS_MAX)
		err = extend(digest, heads, ret_chain, &is_longer);
	return err;
}

/* Threads of one process that wait for the same thing because of the same one are told once. */
static struct chain *find_alike(const struct digest *digest, struct chain *chains, size_t count,
				const struct head *head)
{
	for (size_t i = 0; i < count; i++) {
		const struct chain *chain = &chains[i];

		if (chain->state == head->state && chain->object == head->object &&
		    chain->links[0].tid == head->culprit &&
		    digest->threads[chain->thread].process == digest->threads[head->thread].process)
			return &chains[i];
	}
	return NULL;
}

static int compose_all(const struct digest *digest, const struct hash *heads,
		       const struct head **order, size_t order_count, struct chain *chains,
		       size_t *count)
{
	int err = 0;

	for (size_t i = 0; !err && i < order_count; i++) {
		struct chain *alike = find_alike(digest, chains, *count, order[i]);

		if (alike) {
			alike->alike++;
			alike->alike_ns = profile_add(alike->alike_ns, order[i]->ns);
		} else if (*count < CHAINS_MAX) {
			err = compose(digest, heads, order[i], &chains[*count]);
			(*count)++;
		}
	}
	return err;
}

int chains_compose(const struct digest *digest, struct chain **ret_chains, size_t *ret_count)
{
	const struct head **order = NULL;
	size_t order_count = 0;
	struct hash heads;
	int err = find_heads(digest, &heads);

	*ret_chains = NULL;
	*ret_count = 0;
	if (!err && heads.count) {
		order = calloc(heads.count, sizeof(struct head *));
		*ret_chains = calloc(CHAINS_MAX, sizeof(struct chain));
		err = order && *ret_chains ? 0 : -ENOMEM;
	}
	for (size_t i = 0; !err && i < heads.count; i++) {
		const struct head *head = hash_item(&heads, i);

		if (head->ns && !is_relay(head) &&
		    digest_shows(digest, &digest->threads[head->thread]))
			order[order_count++] = head;
	}
	if (order_count)
		qsort(order, order_count, sizeof(struct head *), by_ns);
	if (!err)
		err = compose_all(digest, &heads, order, order_count, *ret_chains, ret_count);
	for (size_t i = 0; !err && i < *ret_count; i++)
		chain_say(digest, &(*ret_chains)[i]);
	free(order);
	hash_free(&heads);
	return err;
}
