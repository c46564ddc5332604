// SPDX-License-Identifier: Apache-2.0
/* Tables of signals: their series with percentiles, disks, their lists, slow events. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../report/text_signals.h"
#include "table.h"

#define KEY_BYTES  64
#define DISKS_MAX  512 /* by device and operation: 17 KB each */
#define TEXT_BYTES 160

static enum table_unit unit_of(enum series_unit unit)
{
	return unit == UNIT_NS ? TABLE_NS : unit == UNIT_BYTES ? TABLE_BYTES : TABLE_COUNT;
}

/* The columns of one measure of a signal. */
struct series_table {
	struct table_column columns[TABLE_COLUMNS_MAX];
	size_t count;
	size_t command; /* columns; 0: not used */
	size_t fields[FIELDS];
	size_t values; /* the first column of values */
	size_t bytes[SERIES_SUMS];
};

static size_t add_column(struct series_table *table, const char *key, const char *title,
			 enum table_unit unit)
{
	table->columns[table->count] = (struct table_column){key, title, unit};
	return table->count++;
}

/* Where there are many processes, those of one name share a series. */
static bool has_commands(const struct measured *of, u32 kind)
{
	for (size_t i = 0; i < of->row_count; i++)
		if (of->rows[i]->key.kind == kind && !of->rows[i]->key.tgid &&
		    *of->rows[i]->process)
			return true;
	return false;
}

enum { VALUE_COUNT, VALUE_SUM, VALUE_P50, VALUE_P95, VALUE_P99, VALUE_MAX };

static void make_columns(const struct measured *of, u32 kind, struct series_table *table)
{
	const struct series_field *fields[FIELDS] = {&of->view->detail, &of->view->object,
						     &of->view->more};
	enum table_unit unit = unit_of(of->view->kinds[kind].unit);

	*table = (struct series_table){0};
	add_column(table, "process", "", TABLE_PROCESS);
	if (has_commands(of, kind))
		table->command = add_column(table, "command", "", TABLE_TEXT);
	for (int i = 0; i < FIELDS; i++)
		if (fields[i]->kind != FIELD_NONE && of->measures[kind].uses[i])
			table->fields[i] = add_column(table, fields[i]->name, "",
						      fields[i]->kind == FIELD_STACK ? TABLE_NODE
										     : TABLE_TEXT);
	table->values = add_column(table, "count", "", TABLE_COUNT);
	add_column(table, "sum", "", unit);
	add_column(table, "p50", "", unit);
	add_column(table, "p95", "", unit);
	add_column(table, "p99", "", unit);
	add_column(table, "max", "", unit);
	for (u32 i = 0; i < SERIES_SUMS; i++)
		if (view_bytes(of->view, kind, i))
			table->bytes[i] = add_column(table, of->view->bytes[i], "", TABLE_BYTES);
}

static void fill_values(struct page_table *table, size_t first, const struct hist *hist)
{
	table_number(table, first + VALUE_COUNT, (s64)hist->count);
	table_number(table, first + VALUE_SUM, (s64)hist->sum);
	table_number(table, first + VALUE_P50, (s64)hist_percentile(hist, 0.5));
	table_number(table, first + VALUE_P95, (s64)hist_percentile(hist, 0.95));
	table_number(table, first + VALUE_P99, (s64)hist_percentile(hist, 0.99));
	table_number(table, first + VALUE_MAX, (s64)hist->max);
}

static void fill_series(struct page_table *table, const struct series_table *shape,
			const struct measured *of, const struct series_row *row)
{
	const struct page_data *data = table->data;

	if (row->key.tgid)
		table_at(table, 0, page_pid_at(data, row->key.tgid, row->key.start_ns));
	else if (shape->command)
		table_text(table, shape->command, row->process);
	for (int i = 0; i < FIELDS; i++) {
		char text[SIGNALS_NAME_BYTES];
		u64 value;
		const struct series_field *field =
			shape->fields[i] ? series_field_at(of, &row->key, i, &value) : NULL;

		if (!field)
			continue;
		if (field->kind == FIELD_STACK) {
			table_stack(table, shape->fields[i], value);
			continue;
		}
		series_field_text(data->digest, of, field, value, text, sizeof(text));
		table_text(table, shape->fields[i], text);
	}
	if (series_is_other(&row->key) && shape->fields[FIELD_AT_OBJECT])
		table_text(table, shape->fields[FIELD_AT_OBJECT], "(others, without a slot)");
	fill_values(table, shape->values, &row->hist);
	for (u32 i = 0; i < SERIES_SUMS; i++)
		if (shape->bytes[i])
			table_number(table, shape->bytes[i], (s64)row->sums[i]);
}

static int write_measure(struct table_list *list, const struct measured *of, u32 kind)
{
	const struct series_kind *measure = &of->view->kinds[kind];
	struct series_table shape;
	char id[KEY_BYTES], title[TEXT_BYTES];
	struct page_table table = {.id = id,
				   .tab = table_tab_of(of->name),
				   .title = title,
				   .about = measure->about,
				   .columns = shape.columns};

	snprintf(id, sizeof(id), "%s.%s", of->name, measure->name);
	snprintf(title, sizeof(title), "%s: %s", of->name, measure->name);
	make_columns(of, kind, &shape);
	table.column_count = shape.count;
	table_begin(list, &table);
	for (size_t i = 0; i < of->row_count; i++)
		if (of->rows[i]->key.kind == kind && of->rows[i]->hist.count && table_row(&table))
			fill_series(&table, &shape, of, of->rows[i]);
	table.left_out += of->measures[kind].left_out;
	return table_end(list, &table);
}

int tables_series(struct table_list *list)
{
	const struct signals *signals = &list->data->digest->signals;
	int err = 0;

	for (size_t i = 0; !err && i < signals->count; i++)
		for (u32 kind = 0; !err && kind < signals->of[i].view->kind_count; kind++)
			err = write_measure(list, &signals->of[i], kind);
	return err;
}

/* Requests of one kind to one disk; opens with its key. */
struct disk {
	u64 device, op;
	/* the key ends here */
	u64 moved_bytes;
	struct hist queue, service, total;
};

static void merge(struct hist *to, const struct hist *from)
{
	u64 sum = profile_add(to->sum, from->sum);

	hist_merge(to, from);
	to->sum = sum; /* which does not turn round */
}

static int find_disks(const struct measured *of, struct hash *disks, u64 *left_out)
{
	int queue = signals_kind(of->view, "queue"), service = signals_kind(of->view, "service"),
	    total = signals_kind(of->view, "total");

	for (size_t i = 0; i < of->row_count; i++) {
		const struct series_row *row = of->rows[i];
		int kind = row->key.kind;
		struct disk *disk;

		if (series_is_other(&row->key) ||
		    (kind != queue && kind != service && kind != total))
			continue;
		disk = hash_add(disks, &(u64[]){row->key.object, row->key.detail});
		if (!disk && !hash_is_full(disks))
			return -ENOMEM;
		if (!disk) {
			++*left_out;
			continue;
		}
		merge(kind == queue	? &disk->queue
		      : kind == service ? &disk->service
					: &disk->total,
		      &row->hist);
		disk->moved_bytes += kind == total ? row->sums[0] : 0;
	}
	return 0;
}

static int disks_by_time(const void *a, const void *b)
{
	const struct disk *x = a, *y = b;

	if (x->total.sum != y->total.sum)
		return x->total.sum > y->total.sum ? -1 : 1;
	return memcmp(x, y, offsetof(struct disk, moved_bytes));
}

enum {
	DISK_DEVICE,
	DISK_OP,
	DISK_COUNT,
	DISK_RATE,
	DISK_MOVED,
	DISK_TOTAL,
	DISK_SERVICE_SHARE,
	DISK_QUEUE_P50,
	DISK_QUEUE_P99,
	DISK_QUEUE_MAX,
	DISK_SERVICE_P50,
	DISK_SERVICE_P95,
	DISK_SERVICE_P99,
	DISK_SERVICE_MAX,
};

static void fill_disk(struct page_table *table, const struct measured *of, const struct disk *disk)
{
	const struct digest *digest = table->data->digest;
	u64 both = profile_add(disk->queue.sum, disk->service.sum);
	char text[SIGNALS_NAME_BYTES];

	series_field_text(digest, of, &of->view->object, disk->device, text, sizeof(text));
	table_text(table, DISK_DEVICE, text);
	series_field_text(digest, of, &of->view->detail, disk->op, text, sizeof(text));
	table_text(table, DISK_OP, text);
	table_number(table, DISK_COUNT, (s64)disk->total.count);
	if (digest_span(digest))
		table_real(table, DISK_RATE,
			   (double)disk->total.count * 1e9 / (double)digest_span(digest));
	table_number(table, DISK_MOVED, (s64)disk->moved_bytes);
	table_number(table, DISK_TOTAL, (s64)disk->total.sum);
	if (both)
		table_real(table, DISK_SERVICE_SHARE,
			   100.0 * (double)disk->service.sum / (double)both);
	table_number(table, DISK_QUEUE_P50, (s64)hist_percentile(&disk->queue, 0.5));
	table_number(table, DISK_QUEUE_P99, (s64)hist_percentile(&disk->queue, 0.99));
	table_number(table, DISK_QUEUE_MAX, (s64)disk->queue.max);
	table_number(table, DISK_SERVICE_P50, (s64)hist_percentile(&disk->service, 0.5));
	table_number(table, DISK_SERVICE_P95, (s64)hist_percentile(&disk->service, 0.95));
	table_number(table, DISK_SERVICE_P99, (s64)hist_percentile(&disk->service, 0.99));
	table_number(table, DISK_SERVICE_MAX, (s64)disk->service.max);
}

int tables_disks(struct table_list *list)
{
	static const struct table_column columns[] = {
		[DISK_DEVICE] = {"device", "", TABLE_TEXT},
		[DISK_OP] = {"op", "operation", TABLE_TEXT},
		[DISK_COUNT] = {"count", "requests", TABLE_COUNT},
		[DISK_RATE] = {"rate", "a second", TABLE_RATE},
		[DISK_MOVED] = {"moved", "", TABLE_BYTES},
		[DISK_TOTAL] = {"total_ns", "time in all", TABLE_NS},
		[DISK_SERVICE_SHARE] = {"service_percent", "of it in the device", TABLE_PERCENT},
		[DISK_QUEUE_P50] = {"queue_p50", "queue p50", TABLE_NS},
		[DISK_QUEUE_P99] = {"queue_p99", "queue p99", TABLE_NS},
		[DISK_QUEUE_MAX] = {"queue_max", "queue max", TABLE_NS},
		[DISK_SERVICE_P50] = {"service_p50", "service p50", TABLE_NS},
		[DISK_SERVICE_P95] = {"service_p95", "service p95", TABLE_NS},
		[DISK_SERVICE_P99] = {"service_p99", "service p99", TABLE_NS},
		[DISK_SERVICE_MAX] = {"service_max", "service max", TABLE_NS},
	};
	struct page_table table = {
		.id = "disks",
		.tab = "disks",
		.title = "Disks: queue against service",
		.about = "queue: before the device had the request; service: while it "
			 "had it",
		.columns = columns,
		.column_count = ARRAY_SIZE(columns)};
	const struct signals *signals = &list->data->digest->signals;
	int err = 0;

	for (size_t i = 0; !err && i < signals->count; i++) {
		const struct measured *of = &signals->of[i];
		struct hash disks;

		if (strcmp(of->name, "block") != 0)
			continue;
		hash_init(&disks, sizeof(struct disk), 2 * sizeof(u64), DISKS_MAX);
		table_begin(list, &table);
		table.err = find_disks(of, &disks, &table.left_out);
		if (disks.count)
			qsort(disks.items, disks.count, sizeof(struct disk), disks_by_time);
		for (size_t d = 0; d < disks.count; d++)
			if (table_row(&table))
				fill_disk(&table, of, hash_item(&disks, d));
		hash_free(&disks);
		err = table_end(list, &table);
	}
	return err;
}
