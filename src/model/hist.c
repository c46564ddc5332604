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
 * The whole number that is nearest, by ratio, to the least and the most of a bucket: so one that
 * has but one number is exact.
 */
static u64 middle(u32 place)
{
	double least = (double)hist_least(place), most = (double)hist_most(place);

	return least < most ? (u64)(2 * least * most / (least + most) + 0.5) : hist_most(place);
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

int hist_next(const char **text, u32 *ret_place, u64 *ret_count)
{
	const char *at = *text;
	unsigned long place, count;
	char *end;

	if (!*at)
		return 0;
	if (*at < '0' || *at > '9')
		return -EINVAL;
	place = strtoul(at, &end, 10);
	if (*end != ':' || end[1] < '0' || end[1] > '9' || place >= HIST_BUCKETS)
		return -EINVAL;
	count = strtoul(end + 1, &end, 10);
	if (count > 1ULL << 62 || (*end && *end != ' '))
		return -EINVAL;
	*ret_place = (u32)place;
	*ret_count = count;
	*text = *end ? end + 1 : end;
	return 1;
}

int hist_parse(struct hist *hist, const char *text)
{
	u32 place;
	u64 count;
	int got;

	while ((got = hist_next(&text, &place, &count)) > 0) {
		if (hist->count > 1ULL << 62)
			return -EINVAL;
		hist_add_bucket(hist, place, count);
	}
	return got;
}
