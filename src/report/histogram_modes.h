/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a histogram has its modes: values that are of two kinds, fast and slow ones, have two, and
 * then their average is none of either. Owns nothing. Called by those who say what numbers mean.
 */
#ifndef DWELL_REPORT_HISTOGRAM_MODES_H
#define DWELL_REPORT_HISTOGRAM_MODES_H

#include <stdbool.h>
#include <stddef.h>

#include "../model/hist.h"

#define MODES_MAX  4   /* that are told */
#define MODES_NEED 100 /* values: of fewer nothing is said */

struct mode {
	u64 count;
	u64 around; /* its median */
};

struct modes {
	struct mode of[MODES_MAX]; /* in order of their values */
	size_t count;		   /* 0: too few values to tell */
	u64 average;
	bool is_average_in_none; /* it is not near any of them */
};

/*
 * Humps that stand apart: a valley of less than half of the lower one, deeper than chance makes it,
 * two octaves between them, and enough values in each.
 */
void modes_find(const struct hist *hist, struct modes *ret_modes);

/* Values of two or three kinds: one mode is no news, and many are values of any length. */
bool modes_are_kinds(const struct modes *modes);

/* "two humps: 82 % around 210 us, 18 % around 14.0 ms: the average, 2.70 ms, is neither" */
void modes_say(const struct modes *modes, char *buf, size_t size);

#endif
