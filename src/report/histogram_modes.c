// SPDX-License-Identifier: Apache-2.0
#include "histogram_modes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "format_value.h"

#define REACH	    3	  /* buckets to each side that are averaged, twice */
#define VARIANCE    0.097 /* what that leaves of a count's variance: the sum of squared weights */
#define DEEP	    0.5	  /* a valley is below so much of the lower mode */
#define SURE	    6	  /* standard deviations */
#define LEAST_SHARE 200	  /* a mode has one of so many values at least */
#define LEAST_COUNT 20
#define APART	    4	/* times as large is the next mode, at least */
#define NEAR	    1.5 /* an average within so many times of a mode is in it */
#define DENSE	    24	/* from here on each bucket has a whole number in it */

/* A part of the histogram, between two valleys. */
struct part {
	u32 first, last, peak;
	u64 count, median;
};

struct work {
	const struct hist *hist;
	double density[HIST_BUCKETS];
	struct part parts[HIST_BUCKETS / 2 + 1];
	size_t count;
};

/* Small whole numbers leave buckets between them empty, which are no valleys. */
static void spread(const struct hist *hist, double *density)
{
	u32 before = hist_place(1);

	for (u32 i = 0; i < HIST_BUCKETS; i++)
		density[i] = (double)hist->buckets[i];
	/* Those of 0 and 1 would have their room below. */
	density[0] /= HIST_PER_OCTAVE;
	density[1] /= HIST_PER_OCTAVE;
	for (u64 value = 2; value < DENSE; value++) {
		u32 place = hist_place(value);

		for (u32 i = before + 1; i <= place; i++)
			density[i] = (double)hist->buckets[place] / (place - before);
		before = place;
	}
}

static void smooth(double *density)
{
	double from[HIST_BUCKETS];

	memcpy(from, density, sizeof(from));
	for (int i = 0; i < HIST_BUCKETS; i++) {
		double sum = 0;

		for (int k = i - REACH; k <= i + REACH; k++)
			sum += k >= 0 && k < HIST_BUCKETS ? from[k] : 0;
		density[i] = sum / (2 * REACH + 1);
	}
}

static u32 lowest_between(const struct work *work, u32 from, u32 to)
{
	u32 lowest = from;

	for (u32 i = from; i <= to; i++)
		if (work->density[i] < work->density[lowest])
			lowest = i;
	return lowest;
}

/* Each place that is higher than its neighbours is a mode, to begin with. */
static void find_peaks(struct work *work)
{
	const double *density = work->density;
	bool rises = true;

	for (u32 i = 0; i < HIST_BUCKETS; i++) {
		double next = i + 1 < HIST_BUCKETS ? density[i + 1] : 0;

		if (rises && next < density[i])
			work->parts[work->count++].peak = i;
		if (next != density[i])
			rises = next > density[i];
	}
}

/* Where each begins and ends, and what is in it. */
static void measure(struct work *work)
{
	u32 first = 0;

	for (size_t p = 0; p < work->count; p++) {
		struct part *part = &work->parts[p];
		struct hist own = {0};

		part->first = first;
		part->last = p + 1 < work->count
				     ? lowest_between(work, part->peak, work->parts[p + 1].peak)
				     : HIST_BUCKETS - 1;
		first = part->last + 1;
		for (u32 i = part->first; i <= part->last; i++)
			hist_add_bucket(&own, i, work->hist->buckets[i]);
		part->count = own.count;
		part->median = hist_percentile(&own, 0.5);
	}
}

/*
 * How well a mode and the next stand apart: below 1 they are one. The least of all that is asked
 * for, so that the pair that is least two becomes one first.
 */
static double distance(const struct work *work, size_t p)
{
	const struct part *a = &work->parts[p], *b = &work->parts[p + 1];
	double low = fmin(work->density[a->peak], work->density[b->peak]);
	double valley = work->density[lowest_between(work, a->peak, b->peak)];
	double least = fmax(LEAST_COUNT, (double)work->hist->count / LEAST_SHARE);
	double is_deep = low * DEEP / fmax(valley, low / 1000);
	double is_sure = (low - valley) / (SURE * sqrt((low + valley) * VARIANCE));
	double is_large = (double)(a->count < b->count ? a->count : b->count) / least;
	double is_apart = (double)b->median / (APART * (double)(a->median ? a->median : 1));

	return fmin(fmin(is_deep, is_sure), fmin(is_large, is_apart));
}

static void merge(struct work *work, size_t p)
{
	struct part *a = &work->parts[p], *b = &work->parts[p + 1];

	if (work->density[b->peak] > work->density[a->peak])
		a->peak = b->peak;
	memmove(b, b + 1, (work->count - p - 2) * sizeof(*b));
	work->count--;
	measure(work);
}

static void merge_all(struct work *work)
{
	while (work->count > 1) {
		size_t nearest = 0;
		double least = INFINITY;

		for (size_t p = 0; p + 1 < work->count; p++) {
			double apart = distance(work, p);

			if (apart < least) {
				least = apart;
				nearest = p;
			}
		}
		if (least >= 1 && work->count <= MODES_MAX)
			return;
		merge(work, nearest);
	}
}

void modes_find(const struct hist *hist, struct modes *ret_modes)
{
	struct work work = {.hist = hist};

	*ret_modes = (struct modes){0};
	if (hist->count < MODES_NEED)
		return;
	spread(hist, work.density);
	smooth(work.density);
	smooth(work.density);
	find_peaks(&work);
	measure(&work);
	merge_all(&work);
	ret_modes->average = hist->sum / hist->count;
	ret_modes->is_average_in_none = true;
	for (size_t i = 0; i < work.count; i++) {
		const struct part *part = &work.parts[i];
		double ratio = (double)ret_modes->average / (double)(part->median + !part->median);

		ret_modes->of[ret_modes->count++] = (struct mode){part->count, part->median};
		if (ratio < NEAR && ratio > 1 / NEAR)
			ret_modes->is_average_in_none = false;
	}
}

bool modes_are_kinds(const struct modes *modes)
{
	return modes->count == 2 || modes->count == 3;
}

void modes_say(const struct modes *modes, char *buf, size_t size)
{
	static const char *const numbers[MODES_MAX + 1] = {"no", "one", "two", "three", "four"};
	u64 all = 0;

	for (size_t i = 0; i < modes->count; i++)
		all += modes->of[i].count;
	snprintf(buf, size, "%s hump%s:", numbers[modes->count], modes->count == 1 ? "" : "s");
	for (size_t i = 0; i < modes->count; i++)
		format_add(buf, size, "%s %s around %s", i ? "," : "",
			   SHARE(modes->of[i].count, all), VALUE(UNIT_NS, modes->of[i].around));
	if (modes->count > 1 && modes->is_average_in_none)
		format_add(buf, size, ": the average, %s, is %s", VALUE(UNIT_NS, modes->average),
			   modes->count == 2 ? "neither" : "none of them");
}
