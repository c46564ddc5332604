// SPDX-License-Identifier: Apache-2.0
#include "judge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/base/cleanup.h"
#include "../../src/base/figures.h"
#include "block.h"

#define DISKS_JUDGED 8
#define FEW	     20		 /* requests, of which nothing is said */
#define APART_SHARE  0.01	 /* what total and its parts may differ by */
#define SLOW_NS	     10000000ULL /* a disk that takes so long for one in a hundred */
#define QUEUES_NS    1000000ULL	 /* of the average: less is no queue to speak of */
#define TAIL_TIMES   20		 /* p99 against the median */

/* All of a disk's, whatever was done. */
struct disk {
	u64 device;
	const char *name;
	struct hist of[BLOCK_TOTAL + 1];
	u64 failed;
};

static struct disk *disk_of(struct disk *disks, size_t *count, const struct series_row *row)
{
	for (size_t i = 0; i < *count; i++)
		if (disks[i].device == row->key.object)
			return &disks[i];
	if (*count == DISKS_JUDGED)
		return NULL;
	disks[*count].device = row->key.object;
	disks[*count].name = row->object_name;
	return &disks[(*count)++];
}

static double mean(const struct hist *hist)
{
	return hist->count ? (double)hist->sum / (double)hist->count : 0;
}

static u64 p99(const struct hist *hist)
{
	return hist_percentile(hist, 0.99);
}

static void judge_sum(const struct disk *disk, struct remarks *remarks)
{
	double parts = (double)disk->of[BLOCK_QUEUE].sum + (double)disk->of[BLOCK_SERVICE].sum;
	double total = (double)disk->of[BLOCK_TOTAL].sum, apart = parts - total;

	if (apart > APART_SHARE * total || -apart > APART_SHARE * total)
		remark(remarks,
		       "%s: queue and service are %s in sum, the total is %s: values are missing",
		       disk->name, FIGURE_TIME((u64)parts), FIGURE_TIME((u64)total));
}

static double queued_percent(const struct disk *disk)
{
	return 100 * (double)disk->of[BLOCK_QUEUE].sum / (double)disk->of[BLOCK_TOTAL].sum;
}

/* Its requests become those of other disks: what it takes is mostly theirs, or spent in between. */
static bool is_stacked(const struct disk *disk)
{
	static const char *const names[] = {"loop", "dm-", "md", "drbd", "bcache"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(disk->name, names[i], strlen(names[i])))
			return true;
	return false;
}

static void judge_stacked(const struct disk *disk, u64 below_ns, struct remarks *remarks)
{
	u64 service_ns = disk->of[BLOCK_SERVICE].sum;

	if (below_ns >= service_ns / 2)
		remark(remarks,
		       "%s: one request in a hundred took %s or more from issue to completion; "
		       "its data is on other disks, whose requests took %s in sum",
		       disk->name, FIGURE_TIME(p99(&disk->of[BLOCK_SERVICE])),
		       FIGURE_TIME(below_ns));
	else
		remark(remarks,
		       "%s: requests took %s in sum from issue to completion, but its data is on "
		       "other disks, whose requests took %s: the rest was spent above them, as by "
		       "a cgroup's I/O limit, a file system or a wait for a CPU",
		       disk->name, FIGURE_TIME(service_ns), FIGURE_TIME(below_ns));
}

static void judge_time(const struct disk *disk, u64 below_ns, struct remarks *remarks)
{
	const struct hist *queue = &disk->of[BLOCK_QUEUE], *service = &disk->of[BLOCK_SERVICE];

	if (mean(queue) > mean(service) && mean(queue) >= QUEUES_NS)
		remark(remarks,
		       "%s queues: of the time from insert to completion, requests spent %.0f %% "
		       "before the device had them (p99 %s); the device took %s of each on average",
		       disk->name, queued_percent(disk), FIGURE_TIME(p99(queue)),
		       FIGURE_TIME((u64)mean(service)));
	else if (p99(service) >= SLOW_NS && is_stacked(disk))
		judge_stacked(disk, below_ns, remarks);
	else if (p99(service) >= SLOW_NS)
		remark(remarks,
		       "%s is slow: the device took %s or more for one request in a hundred; of "
		       "the time from insert to completion, %.0f %% was before the device had them",
		       disk->name, FIGURE_TIME(p99(service)), queued_percent(disk));
}

/* below_ns: what all disks took that are not stacked on others. */
static void judge_disk(const struct disk *disk, u64 below_ns, struct remarks *remarks)
{
	const struct hist *total = &disk->of[BLOCK_TOTAL];
	double median = (double)hist_percentile(total, 0.5);

	judge_sum(disk, remarks);
	if (disk->failed)
		remark(remarks, "%s: %s of %s requests failed", disk->name,
		       FIGURE_NUMBER(disk->failed), FIGURE_NUMBER(total->count));
	if (total->count < FEW)
		return;
	judge_time(disk, below_ns, remarks);
	if (median > 0 && (double)p99(total) > TAIL_TIMES * median && p99(total) >= QUEUES_NS)
		remark(remarks,
		       "%s: its average, %s, hides its tail: half of the requests took up to "
		       "%s, and one in a hundred %s or more",
		       disk->name, FIGURE_TIME((u64)mean(total)), FIGURE_TIME((u64)median),
		       FIGURE_TIME(p99(total)));
}

void block_judge(const struct series_set *set, struct remarks *remarks)
{
	_cleanup_free_ struct disk *disks = calloc(DISKS_JUDGED, sizeof(*disks));
	size_t count = 0;
	u64 below_ns = 0;

	if (!disks)
		remarks->err = -ENOMEM;
	for (size_t i = 0; disks && i < set->count; i++) {
		const struct series_row *row = set->rows[i];
		struct disk *disk;

		if (row->key.kind > BLOCK_TOTAL || row->key.object == SERIES_OTHER)
			continue;
		disk = disk_of(disks, &count, row);
		if (!disk)
			continue;
		hist_merge(&disk->of[row->key.kind], &row->hist);
		if (row->key.kind == BLOCK_TOTAL && row->key.detail >= BLOCK_OPS)
			disk->failed += row->hist.count;
	}
	for (size_t i = 0; i < count; i++)
		below_ns += is_stacked(&disks[i]) ? 0 : disks[i].of[BLOCK_TOTAL].sum;
	for (size_t i = 0; i < count; i++)
		judge_disk(&disks[i], below_ns, remarks);
}
