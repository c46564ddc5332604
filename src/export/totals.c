// SPDX-License-Identifier: Apache-2.0
#include "totals.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/log.h"
#include "../base/utf8.h"
#include "../store/query.h"

#define TEXT_MAX	  (16u << 20)
#define DEVICE_MINOR_BITS 20  /* as the kernel numbers devices */
#define KINDS_MAX	  512 /* measures of all signals: each may need a place for the rest */
#define LABEL_BYTES_MAX	  256 /* longer names are cut */

/* Escaped: labels are shown by other programs. What finds no room is called as the rest is. */
static u32 keep(struct totals *totals, const char *text)
{
	char cut[LABEL_BYTES_MAX], escaped[4 * LABEL_BYTES_MAX];
	u32 number;

	utf8_copy(cut, sizeof(cut), text, strlen(text));
	utf8_escape(escaped, sizeof(escaped), cut);
	number = strings_add(&totals->strings, escaped);
	return number == STRINGS_NONE ? totals->other : number;
}

static struct totals_service *service_of(struct totals *totals, const char *name)
{
	u32 text = keep(totals, name);
	struct totals_service *service = hash_find(&totals->services, &text);

	if (service || totals->services.count < TOTALS_SERVICES_MAX)
		return service ? service : hash_add(&totals->services, &text);
	return hash_add(&totals->services, &totals->other);
}

static int add_state(const struct ledger_row *row, void *context)
{
	struct totals *totals = context;
	const struct timeline *timeline = totals->timeline;
	struct totals_service *service;

	if (!row->is_wanted)
		return 0;
	service = service_of(totals, timeline_service(timeline, hash_item(&timeline->processes,
									  row->thread->process)));
	if (!service)
		return -ENOMEM;
	service->ns[row->state] += row->ns;
	service->all_ns += row->ns;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct totals_service *one = a, *other = b;

	if (one->all_ns != other->all_ns)
		return one->all_ns < other->all_ns ? 1 : -1;
	return one->name < other->name ? -1 : one->name > other->name;
}

/* The largest stay, the rest becomes one. */
static int rank_services(struct totals *totals)
{
	struct totals_service other = {.name = totals->other}, *at;
	struct hash ranked;
	int err = 0;

	hash_init(&ranked, sizeof(struct totals_service), sizeof(u32), TOTALS_SERVICES + 1);
	if (totals->services.count)
		qsort(totals->services.items, totals->services.count, sizeof(struct totals_service),
		      by_time);
	for (size_t i = 0; !err && i < totals->services.count; i++) {
		const struct totals_service *service = hash_item(&totals->services, i);

		if (service->name != other.name && ranked.count < TOTALS_SERVICES) {
			at = hash_add(&ranked, &service->name);
			if (at)
				*at = *service;
			err = at ? 0 : -ENOMEM;
			continue;
		}
		totals->services_folded++;
		for (u32 state = 0; state < STATE_LIMIT; state++)
			other.ns[state] += service->ns[state];
		other.all_ns += service->all_ns;
	}
	at = !err && other.all_ns ? hash_add(&ranked, &other.name) : NULL;
	if (at)
		*at = other;
	if (!err && other.all_ns && !at)
		err = -ENOMEM;
	hash_free(&totals->services);
	totals->services = ranked;
	return err;
}

static u32 device_of(struct totals *totals, const struct series_values_row *row)
{
	const char *label;
	char numbers[32];

	if (row->view->object.kind != FIELD_DEVICE || !row->object || row->object == SERIES_OTHER)
		return 0;
	label = timeline_label(totals->timeline, row->signal, row->object);
	snprintf(numbers, sizeof(numbers), "%u:%u", (unsigned)(row->object >> DEVICE_MINOR_BITS),
		 (unsigned)(row->object & ((1 << DEVICE_MINOR_BITS) - 1)));
	return keep(totals, label ? label : numbers);
}

/* Of a service that was not folded; else of the rest. */
static u32 shown_service(struct totals *totals, const struct series_values_row *row)
{
	u32 name = keep(totals, timeline_service_of(totals->timeline, row->pid, row->start_ns));

	return !name || hash_find(&totals->services, &name) ? name : totals->other;
}

static int add_values(const struct series_values_row *row, void *context)
{
	struct totals *totals = context;
	struct totals_series key = {.service = shown_service(totals, row),
				    .device = device_of(totals, row),
				    .signal = (u32)row->signal,
				    .kind = row->kind};
	struct totals_series *series = hash_find(&totals->series, &key);
	u64 count;

	if (!series && totals->series.count >= TOTALS_SERIES) {
		key.service = totals->other;
		key.device = 0;
		totals->series_folded++;
	}
	if (!series)
		series = hash_add(&totals->series, &key);
	if (!series)
		return -ENOMEM;
	count = series->hist.count;
	(void)hist_parse(&series->hist, row->buckets); /* what is no bucket is in none */
	series->hist.count = count + row->count;
	series->hist.sum += row->sum;
	series->hist.max = row->max > series->hist.max ? row->max : series->hist.max;
	return 0;
}

static int by_name(const void *a, const void *b, void *context)
{
	const struct totals_series *one = a, *other = b;
	const struct totals *totals = context;
	int order = (int)one->signal - (int)other->signal;

	if (!order)
		order = (int)one->kind - (int)other->kind;
	if (!order)
		order = strcmp(totals_text(totals, one->service),
			       totals_text(totals, other->service));
	return order ? order
		     : strcmp(totals_text(totals, one->device), totals_text(totals, other->device));
}

static int add_loss(sqlite3_stmt *row, void *context)
{
	struct totals *totals = context;
	const struct timeline_window *window =
		timeline_window(totals->timeline, sqlite3_column_int64(row, 0));

	totals->lost += window && window->is_wanted ? query_count(row, 1) : 0;
	return 0;
}

int totals_read(const struct timeline *timeline, struct totals *ret_totals)
{
	int err;

	*ret_totals = (struct totals){.timeline = timeline};
	strings_init(&ret_totals->strings, TEXT_MAX);
	hash_init(&ret_totals->services, sizeof(struct totals_service), sizeof(u32),
		  TOTALS_SERVICES_MAX + 1);
	hash_init(&ret_totals->series, sizeof(struct totals_series), TOTALS_SERIES_KEY,
		  TOTALS_SERIES + KINDS_MAX);
	ret_totals->other = keep(ret_totals, TOTALS_OTHER);
	err = ret_totals->other ? 0 : -ENOMEM;
	if (!err)
		err = timeline_ledger(timeline, add_state, ret_totals);
	if (!err)
		err = rank_services(ret_totals);
	if (!err)
		err = timeline_series(timeline, add_values, ret_totals);
	if (!err)
		err = query_table(timeline->db, "losses", "window, count", NULL, add_loss,
				  ret_totals);
	if (!err && ret_totals->strings.was_short)
		err = -ENOMEM;
	if (err)
		totals_free(ret_totals);
	else if (ret_totals->series.count)
		qsort_r(ret_totals->series.items, ret_totals->series.count,
			sizeof(struct totals_series), by_name, ret_totals);
	return err;
}

void totals_free(struct totals *totals)
{
	strings_free(&totals->strings);
	hash_free(&totals->services);
	hash_free(&totals->series);
}
