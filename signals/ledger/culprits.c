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

/* a - b, or 0 if that is negative */
static u64 less(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

static u64 smaller(u64 a, u64 b)
{
	return a < b ? a : b;
}

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
static u64 told_of_rival(const struct told_rival *told, const struct ledger_rival *rival)
{
	return told->pid == rival->pid && told->ns <= rival->ns ? told->ns : 0;
}

/* Who ran instead. One that lost its entry is among the others, with what was not written yet. */
static void write_rivals(const struct destination *to, const struct rec_ledger *row,
			 struct ledger_told *told)
{
	static const struct ledger_rival others;
	u64 left = less(row->rivals_ns, told->rivals_ns);
	struct told_rival now[RIVALS_MAX] = {0};

	for (int i = 0; i < RIVALS_MAX; i++) {
		const struct ledger_rival *rival = &row->rivals[i];
		u64 ns = smaller(left, less(rival->ns, told_of_rival(&told->rivals[i], rival)));

		write_rival(to, rival, rival->tid ? NULL : (rival->pid ? "(ended)" : "(idle)"), ns);
		now[i] = (struct told_rival){.pid = rival->pid, .ns = rival->ns};
		left -= ns;
	}
	write_rival(to, &others, "(others)", left);
	memcpy(told->rivals, now, sizeof(now));
	told->rivals_ns = row->rivals_ns;
}

static void write_turns(const struct destination *to, const struct rec_ledger *row,
			struct ledger_told *told)
{
	const struct ledger_turns *now = &row->turns;
	struct cell cells[] = {
		cell_number(to->window),
		cell_number(to->thread),
		cell_number(less(now->count, told->turns.count)),
		cell_number(less(now->long_count, told->turns.long_count)),
		cell_number(less(now->long_ns, told->turns.long_ns)),
		cell_number(now->max_ns),
	};

	if (now->long_count <= told->turns.long_count)
		return;
	to->sink->add(to->sink, &ledger_tables[TABLE_LOOPS], cells);
	told->turns = *now;
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
			struct ledger_chain *told)
{
	if (!now->ns || now->state >= STATE_COUNT)
		return;
	if (!is_same_chain(told, now))
		memset(told, 0, sizeof(*told));
	for (int i = 0; i < LEDGER_CHAIN_PARTS; i++)
		if (now->parts[i].state < STATE_COUNT)
			write_part(to, now, &now->parts[i],
				   less(now->parts[i].ns, told->parts[i].ns));
	*told = *now;
}

void culprits_write(const struct rec_ledger *row, struct ledger_told *told, u64 window,
		    struct sink *sink)
{
	const struct destination to = {.sink = sink, .window = window, .thread = told->id};

	write_rivals(&to, row, told);
	write_turns(&to, row, told);
	for (int i = 0; i < LEDGER_CHAINS; i++)
		write_chain(&to, &row->chains[i], &told->chains[i]);
}
