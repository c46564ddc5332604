// SPDX-License-Identifier: Apache-2.0
#include "culprits.h"

#include <stdbool.h>
#include <string.h>

#include "book.h"

/* Where rows go. */
struct destination {
	struct sink *sink;
	u64 window;
	u64 thread;
};

static void write_rival(const struct destination *to, const struct ledger_rival *rival,
			const char *name, u64 ns)
{
	struct cell cells[] = {
		cell_number(to->window),
		cell_number(to->thread),
		cell_number(rival->tgid),
		cell_number(rival->tid),
		name ? cell_text(name, strlen(name)) : cell_text(rival->comm, sizeof(rival->comm)),
		cell_number(rival->policy),
		cell_number(ns),
	};

	if (ns)
		to->sink->add(to->sink, &ledger_tables[TABLE_RIVALS], cells);
}

/* A rival may have two entries; each is its own. */
static u64 written_of_rival(const struct written_rival *written, const struct ledger_rival *rival)
{
	return written->pid == rival->pid && written->ns <= rival->ns ? written->ns : 0;
}

/*
 * Never more than the file has of waits for a CPU. Rivals are known when a wait ends: what it
 * lasted before the file began is the file before's, as not known. And where a wait before it
 * turned out shorter than it seemed, this one is written with less.
 */
static u64 rivals_in_file(u64 rivals_ns, struct ledger_written *written)
{
	struct written_before *before = &written->before;
	u64 queued_ns = less(written_runq_ns(written), before->runq_ns);
	u64 room = less(queued_ns, less(written->rivals_ns, before->rivals_ns));

	if (rivals_ns <= room)
		return rivals_ns;
	before->rivals_ns += rivals_ns - room;
	return room;
}

/* Who ran instead. One that lost its entry is among the others, with what was not written yet. */
static void write_rivals(const struct destination *to, const struct rec_ledger *row,
			 struct ledger_written *written)
{
	static const struct ledger_rival others;
	u64 left = rivals_in_file(less(row->rivals_ns, written->rivals_ns), written);
	struct written_rival now[RIVALS_MAX] = {0};

	for (int i = 0; i < RIVALS_MAX; i++) {
		const struct ledger_rival *rival = &row->rivals[i];
		u64 ns = smaller(left,
				 less(rival->ns, written_of_rival(&written->rivals[i], rival)));

		write_rival(to, rival, rival->tid ? NULL : (rival->pid ? "(ended)" : "(idle)"), ns);
		now[i] = (struct written_rival){.pid = rival->pid, .ns = rival->ns};
		left -= ns;
	}
	write_rival(to, &others, "(others)", left);
	memcpy(written->rivals, now, sizeof(now));
	written->rivals_ns = row->rivals_ns;
}

/*
 * The longest turn so far, if it was in this file. Of those that were shorter than one in an
 * earlier file only the mean is known: one of them took at least so long.
 */
static u64 longest_turn(const struct ledger_turns *now, const struct ledger_written *written)
{
	if (now->max_ns > written->before.max_turn_ns)
		return now->max_ns;
	return less(now->long_ns, written->turns.long_ns) /
	       (now->long_count - written->turns.long_count);
}

static void write_turns(const struct destination *to, const struct rec_ledger *row,
			struct ledger_written *written)
{
	const struct ledger_turns *now = &row->turns;

	if (now->long_count <= written->turns.long_count)
		return;
	struct cell cells[] = {
		cell_number(to->window),
		cell_number(to->thread),
		cell_number(less(now->count, written->turns.count)),
		cell_number(now->long_count - written->turns.long_count),
		cell_number(less(now->long_ns, written->turns.long_ns)),
		cell_number(longest_turn(now, written)),
	};

	to->sink->add(to->sink, &ledger_tables[TABLE_LOOPS], cells);
	written->turns = *now;
}

static void write_part(const struct destination *to, const struct ledger_chain *chain,
		       const struct ledger_chain_part *part, u64 ns)
{
	struct cell cells[] = {
		cell_number(to->window),
		cell_number(to->thread),
		cell_number(chain->state),
		cell_number(chain->call),
		cell_number(chain->object),
		cell_number(chain->culprit_tgid),
		cell_number(chain->culprit),
		cell_text(chain->comm, sizeof(chain->comm)),
		cell_number(part->state),
		cell_number(part->call),
		cell_number(part->object),
		cell_number(part->culprit),
		cell_number(ns),
	};

	if (ns)
		to->sink->add(to->sink, &ledger_tables[TABLE_CHAINS], cells);
}

static bool is_same_chain(const struct ledger_chain *a, const struct ledger_chain *b)
{
	return a->culprit == b->culprit && a->object == b->object && a->state == b->state &&
	       a->ns <= b->ns;
}

/* An entry that has become another chain's begins anew; what was written of the first one stays. */
static void write_chain(const struct destination *to, const struct ledger_chain *now,
			struct ledger_chain *written)
{
	if (!now->ns || now->state >= STATE_COUNT)
		return;
	if (!is_same_chain(written, now))
		memset(written, 0, sizeof(*written));
	for (int i = 0; i < LEDGER_CHAIN_PARTS; i++)
		if (now->parts[i].state < STATE_COUNT)
			write_part(to, now, &now->parts[i],
				   less(now->parts[i].ns, written->parts[i].ns));
	*written = *now;
}

void culprits_write(const struct rec_ledger *row, struct ledger_written *written, u64 window,
		    struct sink *sink)
{
	const struct destination to = {.sink = sink, .window = window, .thread = written->id};

	write_rivals(&to, row, written);
	write_turns(&to, row, written);
	for (int i = 0; i < LEDGER_CHAINS; i++)
		write_chain(&to, &row->chains[i], &written->chains[i]);
}
