// SPDX-License-Identifier: Apache-2.0
/* How a session was measured: what makes a comparison fair or not. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/text.h"
#include "../store/query.h"
#include "reading.h"

static int on_meta(sqlite3_stmt *row, void *context)
{
	struct diff_run *run = ((struct reading *)context)->run;
	char key[64], value[256];
	const struct {
		const char *key;
		char *to;
		size_t size;
	} texts[] = {
		{"kernel", run->kernel, sizeof(run->kernel)},
		{"machine", run->machine, sizeof(run->machine)},
		{"host", run->host, sizeof(run->host)},
		{"boot_id", run->boot_id, sizeof(run->boot_id)},
		{"tier", run->tier, sizeof(run->tier)},
		{"filter", run->filter, sizeof(run->filter)},
		{"signals", run->signals, sizeof(run->signals)},
		{"kind", run->kind, sizeof(run->kind)},
		{"note", run->note, sizeof(run->note)},
		{"dwell_version", run->version, sizeof(run->version)},
	};
	const struct {
		const char *key;
		u64 *to;
	} numbers[] = {
		{"cpus", &run->cpus},
		{"freq", &run->freq},
		{"window_ns", &run->window_ns},
		{"min_block_ns", &run->min_block_ns},
		{"started_ns", &run->started_ns},
		{"ended_ns", &run->ended_ns},
		{"steal_ns", &run->steal_ns},
	};

	query_text(row, 0, key, sizeof(key));
	query_text(row, 1, value, sizeof(value));
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (!strcmp(key, texts[i].key))
			text_copy(texts[i].to, texts[i].size, value);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!strcmp(key, numbers[i].key))
			(void)text_parse_u64(value, 0, 1ULL << 62, numbers[i].to);
	return 0;
}

static int on_loss(sqlite3_stmt *row, void *context)
{
	struct diff_run *run = ((struct reading *)context)->run;

	run->losses += query_count(row, 0);
	return 0;
}

static int on_step(sqlite3_stmt *row, void *context)
{
	(void)row;
	((struct reading *)context)->run->steps++;
	return 0;
}

static int on_coverage(sqlite3_stmt *row, void *context)
{
	struct diff_run *run = ((struct reading *)context)->run;
	u64 covered = query_count(row, 0), total = query_count(row, 1),
	    thinned = query_count(row, 2);
	double share = total ? (double)covered / (double)total : 1;

	run->least_covered = share < run->least_covered ? share : run->least_covered;
	run->thinned = thinned > run->thinned ? thinned : run->thinned;
	return 0;
}

static int on_module(sqlite3_stmt *row, void *context)
{
	struct reading *reading = context;
	struct diff_run *run = reading->run;
	struct diff_fact *fact;
	u32 build_id = reading_column(reading, row, 1);

	if (!build_id)
		return 0;
	fact = query_append(&run->facts, &run->fact_count, sizeof(*fact), DIFF_FACTS_MAX);
	if (!fact)
		return run->fact_count < DIFF_FACTS_MAX ? -ENOMEM : QUERY_ENOUGH;
	fact->module = reading_column(reading, row, 0);
	fact->build_id = build_id;
	return 0;
}

int reading_facts(struct reading *reading)
{
	const struct {
		const char *table, *columns;
		query_row_fn *on_row;
	} tables[] = {
		{"meta", "key, value", on_meta},
		{"losses", "count", on_loss},
		{"steps", "what", on_step},
		{"coverage", "covered_ns, total_ns, thinned", on_coverage},
		{"modules", "path, build_id", on_module},
	};
	int err = 0;

	for (size_t i = 0; !err && i < ARRAY_SIZE(tables); i++)
		err = query_table(reading->db, tables[i].table, tables[i].columns, NULL,
				  tables[i].on_row, reading);
	return err;
}
