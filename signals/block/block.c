// SPDX-License-Identifier: Apache-2.0
#include "block.h"

#include <stdio.h>
#include <stdlib.h>

#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"
#include "judge.h"

static const struct table tables[] = {
	/* The whole so far: a later row of a region replaces the one before. */
	{.name = "block_regions",
	 .columns = "device INTEGER, region INTEGER, bytes INTEGER, "
		    "over_bytes INTEGER, requests INTEGER, "
		    "PRIMARY KEY (device, region)",
	 .width = 5},
};

/* What the kernel side has told since the last window. */
struct block_book {
	u64 disk_count, region_count;
	struct rec_block disks[DISKS_MAX];
	struct rec_block regions[REGIONS_MAX];
	u64 turned_away;
};

static void on_record(void *state, const struct rec_hdr *record)
{
	const struct rec_block *row = (const struct rec_block *)record;
	struct block_book *book = state;

	if (row->requests && book->region_count < REGIONS_MAX)
		book->regions[book->region_count++] = *row;
	else if (!row->requests && book->disk_count < DISKS_MAX)
		book->disks[book->disk_count++] = *row;
	else
		book->turned_away++;
}

static int compare_bytes(const void *a, const void *b)
{
	const struct rec_block *one = a, *other = b;

	return one->bytes < other->bytes ? 1 : -(one->bytes > other->bytes);
}

static void flush(void *state, u64 window, struct sink *sink)
{
	struct block_book *book = state;

	(void)window;
	for (u64 i = 0; i < book->disk_count; i++) {
		const struct rec_block *row = &book->disks[i];
		char name[sizeof("cgroup ") + DISK_NAME_BYTES];

		if (row->device == BLOCK_NAME_CGROUP) {
			snprintf(name, sizeof(name), "cgroup %.*s", DISK_NAME_BYTES,
				 row->name[0] ? (const char *)row->name : "/");
			labels_add(sink, "block", BLOCK_CGROUP_BIT | row->bytes, name);
			continue;
		}
		snprintf(name, sizeof(name), "%.*s", DISK_NAME_BYTES, row->name);
		labels_add(sink, "block", row->device, name);
	}
	qsort(book->regions, book->region_count, sizeof(book->regions[0]), compare_bytes);
	for (u64 i = 0; i < book->region_count && i < REGIONS_SHOWN; i++) {
		const struct rec_block *region = &book->regions[i];
		const struct cell cells[] = {
			cell_number(region->device),   cell_number(region->region),
			cell_number(region->bytes),    cell_number(region->over_bytes),
			cell_number(region->requests),
		};

		sink->add(sink, &tables[0], cells);
	}
	book->disk_count = book->region_count = 0;
}

static const struct signal_loss losses[] = {
	{"block_no_place",
	 "disks or regions beyond the worker's limit: shown by number, or not listed",
	 offsetof(struct block_book, turned_away)},
};

#define REQUESTS PROBE_ACCOUNTS, PROBE_SERIES, PROBE_PAIRS, "block_places", "block_cgroups"

static const struct probe probes[] = {
	{.program = "block_insert", .is_rare = true, .maps = {REQUESTS}},
	{.program = "block_issue", .is_rare = true, .maps = {REQUESTS}},
	{.program = "block_requeue", .is_rare = true, .is_optional = true, .maps = {PROBE_PAIRS}},
	{.program = "block_merge",
	 .is_rare = true,
	 .is_optional = true,
	 .maps = {PROBE_PAIRS, "block_resting"}},
	{.program = "block_complete",
	 .is_rare = true,
	 .maps = {REQUESTS, PROBE_SLOW, "block_resting", "block_regions", "block_disks",
		  "disk_waits"}},
	{.program = "block_rows",
	 .kind = PROBE_ITER,
	 .is_rare = true,
	 .is_optional = true,
	 .maps = {"block_regions"}},
};

static const struct series_kind kinds[] = {
	[BLOCK_QUEUE] = {"queue", UNIT_NS, "from insert to issue: before the device had it"},
	[BLOCK_SERVICE] = {"service", UNIT_NS, "from issue to completion: the device had it"},
	[BLOCK_TOTAL] = {"total", UNIT_NS, "both"},
	[BLOCK_SUBMITTED] = {"submitted", UNIT_NS,
			     "total, of requests submitted by a target process itself"},
	[BLOCK_CGROUP] = {"cgroup", UNIT_NS,
			  "total, of requests that the kernel submitted later, for a cgroup"},
};

#define STATUS(number, name) "read" name, "write" name, "flush" name, "discard" name, "other" name,
static const char *const op_names[] = {BLOCK_STATUSES(STATUS)};
#undef STATUS

static const struct signal_list lists[] = {
	{.name = "regions",
	 .about = "where on the disks most bytes were moved, by MiB",
	 .table = "block_regions",
	 .columns = "coalesce((SELECT name FROM labels WHERE signal = 'block' AND id = device), "
		    "(device >> 20) || ':' || (device & 1048575)) AS device, "
		    "region AS offset_mib, bytes AS moved_bytes, over_bytes, requests",
	 .order = "bytes DESC",
	 .shown = 10},
};

static const struct signal_view view = {
	.kinds = kinds,
	.kind_count = ARRAY_SIZE(kinds),
	.detail = {.name = "op",
		   .kind = FIELD_NAME,
		   .names = op_names,
		   .name_count = ARRAY_SIZE(op_names)},
	.object = {.name = "device", .kind = FIELD_DEVICE},
	.more = {.name = "size", .kind = FIELD_SIZE},
	.bytes = {[BLOCK_BYTES] = "moved"},
	.bytes_of = BLOCK_TOTAL,
	.value_names = {"queue_ns", "size_bytes"},
	.share = 512,
	.cost = COST_CHEAP,
	.price = "about 0.6 us per disk request",
	.lists = lists,
	.list_count = ARRAY_SIZE(lists),
	.judge = block_judge,
};

const struct signal signal_block = {
	.about = "disk requests: time in the queue, and time in the device",
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.state_size = sizeof(struct block_book),
	.on_record = on_record,
	.tables = tables,
	.table_count = ARRAY_SIZE(tables),
	.flush = flush,
	.losses = losses,
	.loss_count = ARRAY_SIZE(losses),
	.view = &view,
};
