/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statistics of a comparison: pure arithmetic on numbers, nothing of sessions. Owns nothing.
 * docs/diff.md has the method and why it is this one. Called by judge.c, by speed.c, and by their
 * tests.
 */
#ifndef DWELL_DIFF_STATS_H
#define DWELL_DIFF_STATS_H

#include <stdbool.h>
#include <stddef.h>

#include "../../abi/types.h"

#define STATS_UNITS_MAX	 256 /* of both sides */
#define STATS_UNITS_MIN	 5   /* of one side: below, no arrangement is rare enough */
#define STATS_CONFIDENCE 0.95
#define STATS_POWER	 0.80
#define STATS_FALSE_DISCOVERY                                                                      \
	0.005 /* of Benjamini-Hochberg; so many A/A pairs have a false one                         \
	       */

/* What is exchanged between the sides: a value, and the work that it was for. */
struct stats_unit {
	double value, work;
};

/* Consecutive units of one run. A run's units come one after the other. */
struct stats_run {
	size_t first, count;
	int side; /* 0 or 1 */
};

struct stats_result {
	double rate[2];	 /* value per work, of each side */
	double error[2]; /* standard error of it */
	double effect;	 /* rate[1] - rate[0] */
	double error_of_effect;
	double freedom;	    /* degrees of, by Welch and Satterthwaite */
	double p;	    /* of a studentized permutation test, two-sided */
	double least_p;	    /* the smallest that the number of arrangements allows */
	double correlation; /* of neighbouring units, which the errors allow for */
	size_t units[2];
};

/* Student's t: the value that |t| exceeds with chance `tail`; the chance that |t| exceeds a value.
 */
double stats_t_beyond(double tail, double freedom);
double stats_t_tail(double t, double freedom);

/*
 * How strongly neighbours within a run agree (lag 1), with what a short run hides added back:
 * 0 if not at all, or nothing can be said.
 */
double stats_correlation(const struct stats_unit *units, const struct stats_run *runs,
			 size_t run_count);

/*
 * Units first of side 0, then of side 1, at most STATS_UNITS_MAX. The error of the effect is at
 * least least_error, if that is known otherwise. Permutes at most so often (0: estimates only); the
 * same numbers always give the same result. False: too few units, or no work; rates and errors are
 * set as far as they are known, and p is 1.
 */
bool stats_compare(const struct stats_unit *units, size_t count0, size_t count1, double correlation,
		   double least_error, u64 permutations, struct stats_result *ret_result);

/* In how many ways can `chosen` of `count` be chosen, up to a limit? */
u64 stats_arrangements(size_t count, size_t chosen, u64 limit);

/*
 * Benjamini-Hochberg over all p: the largest p that counts as a discovery at this rate, or 0 if
 * none does. order: room for count numbers.
 */
double stats_discoveries(const double *p, size_t count, double rate, double *order);

#endif
