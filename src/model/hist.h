/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A histogram in user space: buckets of abi/hist.h, added up, and asked for percentiles. Owns
 * nothing but itself. Filled by whoever reads series; asked by reports.
 */
#ifndef DWELL_MODEL_HIST_H
#define DWELL_MODEL_HIST_H

#include "../../abi/hist.h"

/* What a percentile can be wrong by, as a share of it: half a bucket; and half of 1, as it is
 * whole. */
#define HIST_ERROR 0.022

struct hist {
	u64 count;
	u64 sum;
	u64 max; /* exact */
	u64 buckets[HIST_BUCKETS];
};

void hist_add(struct hist *hist, u64 value);
void hist_add_bucket(struct hist *hist, u32 place, u64 count); /* sum and max are the caller's */
void hist_merge(struct hist *hist, const struct hist *other);

/* The values of a bucket: above low, up to high. Place 0: both are 0. */
double hist_low(u32 place);
double hist_high(u32 place);

/* The same as whole numbers, both of them in it. A bucket of small values may have none: then least
 * is above most. */
u64 hist_least(u32 place);
u64 hist_most(u32 place);

/* The value that a share of all, from 0 to 1, does not exceed; at most max. Of none it is 0. */
u64 hist_percentile(const struct hist *hist, double share);

/*
 * The buckets as text: "place:count place:count", those that are not empty, in order. The length
 * that it has, or would have.
 */
size_t hist_print(const struct hist *hist, char *buf, size_t size);

/* The next bucket of such a text, which moves behind it: 1; 0 at its end; -EINVAL: it is none. */
int hist_next(const char **text, u32 *ret_place, u64 *ret_count);

/* Adds what such a text says: 0, or -EINVAL if it is none; count is raised, sum and max are not. */
int hist_parse(struct hist *hist, const char *text);

#endif
