// SPDX-License-Identifier: Apache-2.0
#include "judge.h"

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
		       "%s: queue and service are %s together, and the total is %s: values "
		       "are missing",
		       disk->name, FIGURE_TIME((u64)parts), FIGURE_TIME((u64)total));
}

/* How little of the requests' time was in the queue: a share that rounds to nothing is in words. */
static const char *queued(const struct disk *disk, char *buf, size_t size)
{
	double percent =
		100 * (double)disk->of[BLOCK_QUEUE].sum / (double)disk->of[BLOCK_TOTAL].sum;

	if (percent < 0.5)
		snprintf(buf, size, "next to none");
	else
		snprintf(buf, size, "only %.0f %%", percent);
	return buf;
}

static void judge_disk(const struct disk *disk, struct remarks *remarks)
{
	const struct hist *queue = &disk->of[BLOCK_QUEUE], *service = &disk->of[BLOCK_SERVICE];
	const struct hist *total = &disk->of[BLOCK_TOTAL];
	double median = (double)hist_percentile(total, 0.5);

	judge_sum(disk, remarks);
	if (disk->failed)
		remark(remarks, "%s: %s of %s requests failed", disk->name,
		       FIGURE_NUMBER(disk->failed), FIGURE_NUMBER(total->count));
	if (total->count < FEW)
		return;
	if (mean(queue) > mean(service) && mean(queue) >= QUEUES_NS)
		remark(remarks,
		       "%s queues: requests waited %.0f %% of their time before the disk was given "
		       "them (p99 %s), and the disk itself took %s of each on average",
		       disk->name, 100 * (double)queue->sum / (double)total->sum,
		       FIGURE_TIME(p99(queue)), FIGURE_TIME((u64)mean(service)));
	else if (p99(service) >= SLOW_NS)
		remark(remarks,
		       "%s is slow: one request in a hundred took it %s or more, and %s of the "
		       "time was spent in the queue",
		       disk->name, FIGURE_TIME(p99(service)), queued(disk, (char[32]){0}, 32));
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
		judge_disk(&disks[i], remarks);
}
