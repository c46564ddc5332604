// SPDX-License-Identifier: Apache-2.0
#include "hist.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../base/text.h"

void hist_add(struct hist *hist, u64 value)
{
	hist->count++;
	hist->sum += value;
	hist->max = value > hist->max ? value : hist->max;
	hist->buckets[hist_place(value)]++;
}

void hist_add_bucket(struct hist *hist, u32 place, u64 count)
{
	if (place >= HIST_BUCKETS)
		return;
	hist->buckets[place] += count;
	hist->count += count;
}

void hist_merge(struct hist *hist, const struct hist *other)
{
	hist->count += other->count;
	hist->sum += other->sum;
	hist->max = other->max > hist->max ? other->max : hist->max;
	for (u32 i = 0; i < HIST_BUCKETS; i++)
		hist->buckets[i] += other->buckets[i];
}

double hist_high(u32 place)
{
	return place ? exp2(((double)place - 1) / HIST_PER_OCTAVE) : 0;
}

double hist_low(u32 place)
{
	return place > 1 ? exp2(((double)place - 2) / HIST_PER_OCTAVE) : 0;
}

u64 hist_least(u32 place)
{
	return place > 1 ? (u64)hist_low(place) + 1 : place;
}

u64 hist_most(u32 place)
{
	return place > 1 ? (u64)hist_high(place) : place;
}

/*
 * The middle by ratio: as far from one end as from the other; of whole numbers, as values are. So a
 * bucket that has but one of them is exact.
 */
static u64 middle(u32 place)
{
	u64 least = hist_least(place), most = hist_most(place), value;

	if (least >= most)
		return most;
	value = (u64)(sqrt(hist_low(place) * hist_high(place)) + 0.5);
	return value < least ? least : value > most ? most : value;
}

u64 hist_percentile(const struct hist *hist, double share)
{
	u64 rank, seen = 0;

	if (!hist->count)
		return 0;
	rank = (u64)ceil(share * (double)hist->count);
	rank = rank < 1 ? 1 : rank > hist->count ? hist->count : rank;
	if (rank == hist->count && hist->max)
		return hist->max; /* known exactly */
	for (u32 i = 0; i < HIST_BUCKETS; i++) {
		seen += hist->buckets[i];
		if (seen >= rank) {
			u64 value = middle(i);

			return hist->max && value > hist->max ? hist->max : value;
		}
	}
	return hist->max;
}

size_t hist_print(const struct hist *hist, char *buf, size_t size)
{
	size_t length = 0;

	if (size)
		*buf = '\0';
	for (u32 i = 0; i < HIST_BUCKETS; i++) {
		char one[40];
		int got;

		if (!hist->buckets[i])
			continue;
		got = snprintf(one, sizeof(one), "%s%u:%llu", length ? " " : "", i,
			       (unsigned long long)hist->buckets[i]);
		if (length + (size_t)got < size)
			text_copy(buf + length, size - length, one);
		length += (size_t)got;
	}
	return length;
}

int hist_parse(struct hist *hist, const char *text)
{
	while (*text) {
		char *end;
		unsigned long place, count;

		if (*text < '0' || *text > '9')
			return -EINVAL;
		place = strtoul(text, &end, 10);
		if (*end != ':' || end[1] < '0' || end[1] > '9' || place >= HIST_BUCKETS)
			return -EINVAL;
		count = strtoul(end + 1, &end, 10);
		if (count > 1ULL << 62 || hist->count > 1ULL << 62 || (*end && *end != ' '))
			return -EINVAL;
		hist_add_bucket(hist, (u32)place, count);
		text = *end ? end + 1 : end;
	}
	return 0;
}
