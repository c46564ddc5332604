/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What a thread did while another one waited for it. Each thread keeps its last absences from
 * its CPU, and how long it had run by each (lock_absence): snapshots of its account. Whoever ends a
 * wait lays the wait over its own absences, and leaves the parts with the waiter; so a lock leads
 * to its holder, and to what that one waited for. Compiled for the host too, as ledger.bpf.h is.
 */
#ifndef DWELL_LEDGER_CHAIN_BPF_H
#define DWELL_LEDGER_CHAIN_BPF_H

#include "ledger_task.bpf.h"

/* Places of a chain's parts: these two are always there; the last is of what has no other. */
#define CHAIN_CPU   0
#define CHAIN_QUEUE 1
#define CHAIN_FIRST 2
#define CHAIN_REST  (LEDGER_CHAIN_PARTS - 1)

static __always_inline void ledger_add_part(struct ledger_chain *chain, u64 place,
					    const struct ledger_chain_part *part, u64 ns)
{
	ledger_at_most(place, CHAIN_REST);
	chain->parts[place].state = part->state;
	chain->parts[place].call = part->call;
	chain->parts[place].object = part->object;
	chain->parts[place].culprit = part->culprit;
	chain->parts[place].ns += ns;
}

static __always_inline bool ledger_is_part(const struct ledger_chain_part *a,
					   const struct ledger_chain_part *b)
{
	return a->state == b->state && a->call == b->call && a->object == b->object &&
	       a->culprit == b->culprit;
}

/* A wait of the culprit's own, by its name; what finds no place is not known any more. */
static __always_inline void ledger_add_wait(struct ledger_chain *chain,
					    const struct ledger_chain_part *part, u64 ns)
{
	const struct ledger_chain_part rest = {};

	if (!ns)
		return;
	for (u32 i = CHAIN_FIRST; i < CHAIN_REST; i++) {
		if (chain->parts[i].ns && !ledger_is_part(&chain->parts[i], part))
			continue;
		ledger_add_part(chain, i, part, ns);
		return;
	}
	ledger_add_part(chain, CHAIN_REST, &rest, ns);
}

/* How much of the ns that ended at end_ns was after begin_ns. */
static __always_inline u64 ledger_part_after(u64 begin_ns, u64 end_ns, u64 ns)
{
	u64 since = end_ns - begin_ns;

	if (end_ns <= begin_ns)
		return 0;
	return since < ns ? since : ns;
}

/* The culprit runs just now: how long it has in all. */
static __always_inline u64 ledger_cpu_until(const struct ledger_task *account, u64 now)
{
	return ledger_cpu_ns(account) + (now > account->last_ns ? now - account->last_ns : 0);
}

/*
 * What `culprit`, in whose context this is, did from begin to now. Its absences are kept from the
 * latest back: what was before the oldest is not known, nor what were absences too short to keep.
 */
static __always_inline void ledger_explain(struct ledger_chain *chain,
					   const struct ledger_task *culprit, u64 begin, u64 now)
{
	const struct ledger_chain_part cpu = {.state = STATE_CPU},
				       queue = {.state = STATE_RUNQ_WOKEN}, rest = {};
	const struct lock_watch *watch = &culprit->lock;
	u64 left = now - begin, until = now, queued = 0, ran = left;

	chain->ns = left;
	for (u32 i = 1; i <= ABSENCES_MAX && i <= watch->absence_count && until > begin; i++) {
		u64 place = watch->absence_count - i, woken_ns, block_ns;
		const struct lock_absence *absence;
		struct ledger_chain_part part;

		ledger_bound(place, ABSENCES_MAX - 1);
		absence = &watch->absences[place];
		if (absence->back_ns <= begin)
			break;
		part = (struct ledger_chain_part){.state = absence->state,
						  .call = absence->call,
						  .object = absence->object,
						  .culprit = absence->culprit};
		woken_ns = absence->back_ns - absence->queue_us * 1000ULL;
		queued += ledger_part_after(begin, absence->back_ns, absence->queue_us * 1000ULL);
		block_ns = ledger_part_after(begin, woken_ns, absence->block_us * 1000ULL);
		ledger_add_wait(chain, &part, block_ns);
		left -= block_ns < left ? block_ns : left;
		until = woken_ns - absence->block_us * 1000ULL;
		ran = ledger_cpu_until(culprit, now) - absence->cpu_ns;
		/* Before that it ran, or the next one takes it up; of what is lost it is not known.
		 */
		if (until > begin && i < ABSENCES_MAX)
			ran += until - begin;
	}
	left -= queued < left ? queued : left;
	if (ran > left)
		ran = left;
	ledger_add_part(chain, CHAIN_CPU, &cpu, ran);
	ledger_add_part(chain, CHAIN_QUEUE, &queue, queued);
	ledger_add_part(chain, CHAIN_REST, &rest, left - ran);
}

static __always_inline bool ledger_is_chain(const struct ledger_chain *a,
					    const struct ledger_chain *b)
{
	return a->culprit == b->culprit && a->object == b->object && a->state == b->state;
}

/* The chain of a wait that is over is added to those of its thread; one with less gives way. */
static __always_inline void ledger_keep_chain(struct ledger_task *account)
{
	struct ledger_chain *one = &account->chain, *kept = NULL;
	u64 place = 0;

	if (!account->has_chain)
		return;
	account->has_chain = 0;
	one->state = (u8)account->over.block_state;
	if (one->state == STATE_BLOCKED_IDLE || one->state == STATE_BLOCKED_SLEEP)
		return; /* nobody was waited for */
	one->call = (u16)account->wait_call;
	one->object = account->over.object;
	for (u32 i = 0; i < LEDGER_CHAINS; i++) {
		if (account->chains[i].ns && ledger_is_chain(&account->chains[i], one)) {
			place = i;
			break;
		}
		if (account->chains[i].ns < account->chains[place & (LEDGER_CHAINS - 1)].ns)
			place = i;
	}
	ledger_bound(place, LEDGER_CHAINS - 1);
	kept = &account->chains[place];
	account->chains_ns += one->ns;
	if (!kept->ns || !ledger_is_chain(kept, one)) {
		if (kept->ns < one->ns)
			*kept = *one;
		return;
	}
	kept->ns += one->ns;
	kept->parts[CHAIN_CPU].ns += one->parts[CHAIN_CPU].ns;
	kept->parts[CHAIN_QUEUE].ns += one->parts[CHAIN_QUEUE].ns;
	kept->parts[CHAIN_REST].ns += one->parts[CHAIN_REST].ns;
	for (u32 i = CHAIN_FIRST; i < CHAIN_REST; i++)
		ledger_add_wait(kept, &one->parts[i], one->parts[i].ns);
}

#endif
