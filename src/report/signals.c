// SPDX-License-Identifier: Apache-2.0
#include "signals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../model/labels.h"
#include "../store/query.h"
#include "digest.h"

/* Each signal that was chosen has a row. */
static int on_share(sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	int id = signals_column(row, 0);
	struct measured *of;

	if (!id)
		return 0;
	of = signals_find(&digest->signals, (u64)id);
	if (!of)
		return -ENOMEM;
	of->share = (struct series_share){
		.limit = query_count(row, 1),
		.used = query_count(row, 2),
		.folded = query_count(row, 3),
		.lost = query_count(row, 4),
		.unpaired = query_count(row, 5),
		.slow_unspoken = query_count(row, 6),
	};
	return 0;
}

static bool is_series(sqlite3_stmt *row)
{
	char name[64];

	query_text(row, 0, name, sizeof(name));
	return !strcmp(name, "series");
}

static int on_label(sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	const u64 id = query_u64(row, 1);
	/* Commands are of all signals. */
	const u64 key[2] = {id & SERIES_COMMAND && is_series(row) ? SIG_SERIES
								  : (u64)signals_column(row, 0),
			    id};
	struct label_row *label = key[0] ? hash_add(&digest->signals.labels, key) : NULL;

	if (label)
		query_text(row, 2, label->name, sizeof(label->name));
	else if (key[0] && !hash_is_full(&digest->signals.labels))
		return -ENOMEM;
	return 0; /* without it there is a number to show */
}

static int by_id(const void *a, const void *b)
{
	const struct measured *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* Other ways to show a session have nothing of signals. */
static bool is_wanted(const struct report_options *options)
{
	return options->json || options->signals ||
	       !(options->stacks || options->why || options->cpus || options->execs ||
		 options->requests);
}

static void free_row(struct series_row *row)
{
	if (!series_is_other(&row->key)) {
		free(*row->detail_name ? (char *)row->detail_name : NULL);
		free(*row->object_name ? (char *)row->object_name : NULL);
		free(*row->process ? (char *)row->process : NULL);
	}
	free(row);
}

static void free_one(struct measured *of)
{
	signals_free_alike(of);
	for (size_t i = 0; i < of->row_count; i++)
		free_row(of->rows[i]);
	if (of->lists)
		signals_free_lists(of);
	free(of->rows);
	free(of->measures);
	free(of->slow);
	free(of->lists);
}

/* Those that were asked for: the others are dropped again. */
static void keep_asked(struct digest *digest)
{
	struct signals *signals = &digest->signals;
	size_t kept = 0;

	if (!digest->options->signals)
		return;
	for (size_t i = 0; i < signals->count; i++) {
		if (digest->options->signals >> signals->of[i].id & 1) {
			signals->of[kept++] = signals->of[i];
			continue;
		}
		free_one(&signals->of[i]);
	}
	signals->count = kept;
}

int signals_read(sqlite3 *db, struct digest *digest)
{
	struct signals *signals = &digest->signals;
	int err;

	hash_init(&signals->labels, sizeof(struct label_row), 2 * sizeof(u64), SIGNALS_LABELS_MAX);
	if (!is_wanted(digest->options))
		return 0;
	err = query_table(db, "shares",
			  "signal, places, used, folded, lost, unpaired, slow_unspoken", NULL,
			  on_share, digest);
	if (!err)
		err = query_table(db, labels_table.name, "signal, id, name", NULL, on_label,
				  digest);
	if (!err)
		err = signals_read_series(db, digest);
	if (!err)
		err = signals_read_slow(db, digest);
	if (signals->count)
		qsort(signals->of, signals->count, sizeof(struct measured), by_id);
	if (!err)
		keep_asked(digest);
	if (!err)
		err = signals_read_lists(db, digest);
	for (size_t i = 0; !err && i < signals->count; i++)
		err = signals_find_alike(digest, &signals->of[i]);
	if (!err)
		err = signals_judge(digest);
	return err;
}

void signals_free(struct signals *signals)
{
	for (size_t i = 0; i < signals->count; i++)
		free_one(&signals->of[i]);
	free(signals->of);
	hash_free(&signals->labels);
}
