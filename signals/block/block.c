// SPDX-License-Identifier: Apache-2.0
#include "block.h"

#include <stdio.h>
#include <stdlib.h>

#include "../../src/base/cleanup.h"
#include "../../src/base/recent.h"
#include "../../src/model/signal.h"
#include "judge.h"

static const struct table tables[] = {
	/* The whole of the file so far: a later row of a region replaces the one before. */
	{.name = "block_regions",
	 .about = "region of a disk, of those where most was moved",
	 .columns = "device INTEGER, region INTEGER, bytes INTEGER, "
		    "over_bytes INTEGER, requests INTEGER, "
		    "PRIMARY KEY (device, region)",
	 .width = 5,
	 .continued = "(device, region) DO UPDATE SET bytes = bytes + excluded.bytes, "
		      "over_bytes = over_bytes + excluded.over_bytes, "
		      "requests = requests + excluded.requests"},
};

/* What the kernel side has of a region, and what of that earlier files have. */
struct region {
	u32 device, region;
	u64 bytes, over_bytes, requests;
	u64 bytes_before, over_before, requests_before;
};

/*
 * Regions are those since the last window; disks, and cgroups, are told once, and kept for the next
 * file.
 */
struct block_book {
	u64 disk_count, disks_told, region_count;
	u64 oldest;   /* of the names, once all places are taken: the next to make room */
	u64 fresh;    /* names since the last window: they are not written yet */
	u64 replaced; /* names */
	struct rec_block disks[NAMES_MAX];
	struct rec_block regions[REGIONS_MAX];
	struct recent known; /* struct region */
	u64 is_base_unknown;
	u64 turned_away;
};

static void open_book(void *state, const struct services *services)
{
	struct block_book *book = state;

	(void)services;
	recent_init(&book->known, sizeof(struct region), 2 * sizeof(u32), 2 * REGIONS_MAX);
}

static void release(void *state)
{
	struct block_book *book = state;

	recent_free(&book->known);
}

/* What the file has of it. One that lost its place among the largest has begun anew. */
static void subtract_before(struct block_book *book, struct rec_block *row)
{
	const u32 key[2] = {row->device, row->region};
	bool is_new;
	struct region *known = recent_add(&book->known, key, &is_new);

	if (!known)
		return;
	if (is_new && book->is_base_unknown) {
		known->bytes_before = row->bytes;
		known->over_before = row->over_bytes;
		known->requests_before = row->requests;
	}
	if (row->requests < known->requests_before || row->bytes < known->bytes_before)
		known->bytes_before = known->over_before = known->requests_before = 0;
	known->bytes = row->bytes;
	known->over_bytes = row->over_bytes;
	known->requests = row->requests;
	row->bytes -= known->bytes_before;
	row->over_bytes -=
		row->over_bytes < known->over_before ? row->over_bytes : known->over_before;
	row->requests -= known->requests_before;
}

static struct rec_block *find_disk(struct block_book *book, const struct rec_block *row)
{
	for (u64 i = 0; i < book->disk_count; i++)
		if (book->disks[i].device == row->device && book->disks[i].bytes == row->bytes)
			return &book->disks[i];
	return NULL;
}

/* The file has it. All are written again with this window, which is rare. */
static void replace_oldest(struct block_book *book, const struct rec_block *row)
{
	book->disks[book->oldest++ % NAMES_MAX] = *row;
	book->disks_told = 0;
	book->fresh++;
	book->replaced++;
}

static void on_disk(struct block_book *book, const struct rec_block *row)
{
	struct rec_block *known = find_disk(book, row);

	if (known) {
		*known = *row;
		book->disks_told = 0; /* its name may be another now */
	} else if (book->disk_count < NAMES_MAX) {
		book->disks[book->disk_count++] = *row;
		book->fresh++;
	} else if (book->fresh < NAMES_MAX) {
		replace_oldest(book, row);
	} else {
		book->turned_away++;
	}
}

static void on_record(void *state, const struct rec_hdr *record)
{
	const struct rec_block *row = (const struct rec_block *)record;
	struct block_book *book = state;

	if (!row->requests) {
		on_disk(book, row);
	} else if (book->region_count < REGIONS_MAX) {
		book->regions[book->region_count] = *row;
		subtract_before(book, &book->regions[book->region_count++]);
	} else {
		book->turned_away++;
	}
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
	for (; book->disks_told < book->disk_count; book->disks_told++) {
		const struct rec_block *row = &book->disks[book->disks_told];
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
	book->fresh = 0;
	qsort(book->regions, book->region_count, sizeof(book->regions[0]), compare_bytes);
	for (u64 i = 0; i < book->region_count && i < REGIONS_SHOWN; i++) {
		const struct rec_block *region = &book->regions[i];
		const struct cell cells[] = {
			cell_number(region->device),   cell_number(region->region),
			cell_number(region->bytes),    cell_number(region->over_bytes),
			cell_number(region->requests),
		};

		if (region->requests)
			sink->add(sink, &tables[0], cells);
	}
	book->region_count = 0;
}

/* What files before this one have is not known: it gets what comes from now on. */
static void resume(void *state, const struct resumed *resumed)
{
	struct block_book *book = state;

	book->is_base_unknown = !resumed->is_first_file;
}

static void renew(void *state, u64 window, struct sink *sink)
{
	struct block_book *book = state;

	(void)window;
	(void)sink;
	book->disks_told = 0;
	for (size_t i = 0; i < recent_count(&book->known); i++) {
		struct region *known = recent_item(&book->known, i);

		if (!known)
			continue;
		known->bytes_before = known->bytes;
		known->over_before = known->over_bytes;
		known->requests_before = known->requests;
	}
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
	 .run = RUN_EACH_WINDOW,
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

static const char *const told_maps[] = {"block_disks", "block_cgroups", NULL};

const struct signal signal_block = {
	.about = "disk requests: time in the queue, and time in the device",
	.told_maps = told_maps,
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.state_size = sizeof(struct block_book),
	.open = open_book,
	.release = release,
	.on_record = on_record,
	.tables = tables,
	.table_count = ARRAY_SIZE(tables),
	.flush = flush,
	.renew = renew,
	.resume = resume,
	.losses = losses,
	.loss_count = ARRAY_SIZE(losses),
	.view = &view,
};
