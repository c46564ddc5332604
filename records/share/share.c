// SPDX-License-Identifier: Apache-2.0
#include "share.h"

#include <string.h>

#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"

/* The whole of the file so far: a later row of a signal replaces the one before. */
static const struct table tables[] = {
	{.name = "shares",
	 .about = "signal that was chosen",
	 .columns = "signal TEXT PRIMARY KEY, places INTEGER, used INTEGER, folded INTEGER, "
		    "lost INTEGER, unpaired INTEGER, slow_unspoken INTEGER",
	 .width = 7,
	 .continued = "(signal) DO UPDATE SET used = max(used, excluded.used), "
		      "folded = folded + excluded.folded, lost = lost + excluded.lost, "
		      "unpaired = unpaired + excluded.unpaired, "
		      "slow_unspoken = slow_unspoken + excluded.slow_unspoken"},
};

static void on_record(void *state, const struct rec_hdr *record)
{
	const struct rec_share *row = (const struct rec_share *)record;
	struct share_book *book = state;
	struct series_share *before;

	if (row->signal >= SIGNAL_LIMIT || !signal_rows[row->signal].name)
		return;
	before = &book->of[row->signal];
	if (book->no_base >> row->signal & 1) {
		book->no_base &= ~(1ULL << row->signal);
		*before = row->share;
		if (!book->is_first_file)
			book->before[row->signal] = row->share;
	}
	book->lost += row->share.lost - before->lost;
	book->unpaired += row->share.unpaired - before->unpaired;
	book->slow_unspoken += row->share.slow_unspoken - before->slow_unspoken;
	*before = row->share;
	book->has_news |= 1ULL << row->signal;
}

static void flush(void *state, u64 window, struct sink *sink)
{
	struct share_book *book = state;

	(void)window;
	for (u64 id = 0; id < SIGNAL_LIMIT; id++) {
		const struct series_share *share = &book->of[id], *before = &book->before[id];
		const char *name = signal_rows[id].name;

		if (!(book->has_news >> id & 1) || !share->limit)
			continue;
		const struct cell cells[] = {
			cell_text(name, strlen(name)),
			cell_number(share->limit),
			cell_number(share->used),
			cell_number(share->folded - before->folded),
			cell_number(share->lost - before->lost),
			cell_number(share->unpaired - before->unpaired),
			cell_number(share->slow_unspoken - before->slow_unspoken),
		};

		sink->add(sink, &tables[0], cells);
	}
	book->has_news = 0;
}

/* The next file gets a row of each signal, though it has no news. */
static void renew(void *state, u64 window, struct sink *sink)
{
	struct share_book *book = state;

	(void)window;
	(void)sink;
	memcpy(book->before, book->of, sizeof(book->before));
	book->has_news = ~0ULL;
}

/*
 * What was lost up to then is told. A row is the whole of the file: of a later one, what earlier
 * files have is not known, and it gets what comes from now on.
 */
static void resume(void *state, const struct resumed *resumed)
{
	struct share_book *book = state;

	book->no_base = ~0ULL;
	book->is_first_file = resumed->is_first_file;
}

static const struct signal_loss losses[] = {
	{"series_lost", "values of series beyond the kernel side's limit, with no slot for (other)",
	 offsetof(struct share_book, lost)},
	{"pairs_full", "starts that were not stored, as the table of open starts was full",
	 offsetof(struct share_book, unpaired)},
	{"slow_unspoken", "slow events beyond the limit per second: counted in their series only",
	 offsetof(struct share_book, slow_unspoken)},
};

const struct signal signal_share = {
	.about = "how signals use their share of series slots",
	.state_size = sizeof(struct share_book),
	.on_record = on_record,
	.tables = tables,
	.table_count = ARRAY_SIZE(tables),
	.flush = flush,
	.renew = renew,
	.resume = resume,
	.losses = losses,
	.loss_count = ARRAY_SIZE(losses),
};
