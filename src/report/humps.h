/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a histogram has its humps: values that are of two kinds, fast and slow ones, have two, and
 * then their average is none of either. Owns nothing. Called by those who say what numbers mean.
 */
#ifndef DWELL_REPORT_HUMPS_H
#define DWELL_REPORT_HUMPS_H

#include <stdbool.h>
#include <stddef.h>

#include "../model/hist.h"

#define HUMPS_MAX  4   /* that are told */
#define HUMPS_NEED 100 /* values: of fewer nothing is said */

struct hump {
	u64 count;
	u64 around; /* its median */
};

struct humps {
	struct hump of[HUMPS_MAX]; /* in order of their values */
	size_t count;		   /* 0: too few values to tell */
	u64 average;
	bool is_average_in_none; /* it is not near any of them */
};

/*
 * Humps that stand apart: a valley of less than half of the lower one, deeper than chance makes it,
 * two octaves between them, and enough values in each.
 */
void humps_find(const struct hist *hist, struct humps *ret_humps);

/* Values of two or three kinds: one hump is no news, and many are values of any length. */
bool humps_are_kinds(const struct humps *humps);

/* "two humps: 82 % around 210 us, 18 % around 14.0 ms: the average, 2.70 ms, is neither" */
void humps_say(const struct humps *humps, char *buf, size_t size);

#endif
