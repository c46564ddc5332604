/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The histogram: which bucket a value belongs to, and which values a bucket has. The one
 * implementation, compiled for the kernel side and for the host.
 *
 * OpenTelemetry's base-2 exponential histogram of scale 4: bucket i has the values above 2^(i/16),
 * up to 2^((i+1)/16); so a bucket's middle is at most 2.2 % from each of its values. The buckets
 * are the same everywhere, and so two histograms are added bucket by bucket. Here they stand in an
 * array: place 0 is the value 0, place i + 2 the bucket i, of which the first, -1, has the value 1
 * alone.
 */
#ifndef DWELL_ABI_HIST_H
#define DWELL_ABI_HIST_H

#include "types.h"

#define HIST_SCALE	4
#define HIST_PER_OCTAVE (1 << HIST_SCALE)
#define HIST_OCTAVES                                                                               \
	44 /* up to 2^44: nanoseconds of five hours; what is above is in the last one */
#define HIST_BUCKETS (HIST_OCTAVES * HIST_PER_OCTAVE + 2)

/*
 * By the six bits that follow the highest one: how many boundaries of its octave are below such a
 * value, in the low four bits; the others are where the next one is, if that is among these values.
 */
static const u64 hist_cells[64] __attribute__((unused)) = {
	0xfffffffffffffff0ULL, 0xfffffffffffffff0ULL, 0x0b5586cf9890f620ULL, 0xfffffffffffffff1ULL,
	0xfffffffffffffff1ULL, 0x172b83c7d517adc1ULL, 0xfffffffffffffff2ULL, 0xfffffffffffffff2ULL,
	0x2387a6e756238662ULL, 0xfffffffffffffff3ULL, 0xfffffffffffffff3ULL, 0xfffffffffffffff3ULL,
	0x306fe0a31b7152d3ULL, 0xfffffffffffffff4ULL, 0xfffffffffffffff4ULL, 0x3dea64c123422354ULL,
	0xfffffffffffffff5ULL, 0xfffffffffffffff5ULL, 0x4bfdad5362a271d5ULL, 0xfffffffffffffff6ULL,
	0xfffffffffffffff6ULL, 0xfffffffffffffff6ULL, 0x5ab07dd485429586ULL, 0xfffffffffffffff7ULL,
	0xfffffffffffffff7ULL, 0xfffffffffffffff7ULL, 0x6a09e667f3bcc907ULL, 0xfffffffffffffff8ULL,
	0xfffffffffffffff8ULL, 0xfffffffffffffff8ULL, 0x7a11473eb0186d78ULL, 0xfffffffffffffff9ULL,
	0xfffffffffffffff9ULL, 0xfffffffffffffff9ULL, 0x8ace5422aa0db5b9ULL, 0xfffffffffffffffaULL,
	0xfffffffffffffffaULL, 0xfffffffffffffffaULL, 0xfffffffffffffffaULL, 0x9c49182a3f0901caULL,
	0xfffffffffffffffbULL, 0xfffffffffffffffbULL, 0xfffffffffffffffbULL, 0xae89f995ad3ad5ebULL,
	0xfffffffffffffffcULL, 0xfffffffffffffffcULL, 0xfffffffffffffffcULL, 0xfffffffffffffffcULL,
	0xc199bdd85529c22cULL, 0xfffffffffffffffdULL, 0xfffffffffffffffdULL, 0xfffffffffffffffdULL,
	0xfffffffffffffffdULL, 0xd5818dcfba48725dULL, 0xfffffffffffffffeULL, 0xfffffffffffffffeULL,
	0xfffffffffffffffeULL, 0xfffffffffffffffeULL, 0xea4afa2a490d985eULL, 0xffffffffffffffffULL,
	0xffffffffffffffffULL, 0xffffffffffffffffULL, 0xffffffffffffffffULL, 0xffffffffffffffffULL,
};

/* The place of the highest bit; of 0 it is 0. */
static inline __attribute__((always_inline)) u32 hist_log2(u64 value)
{
	u32 log = 0, step;

	step = (value > 0xffffffffULL) << 5;
	value >>= step;
	log |= step;
	step = (value > 0xffff) << 4;
	value >>= step;
	log |= step;
	step = (value > 0xff) << 3;
	value >>= step;
	log |= step;
	step = (value > 0xf) << 2;
	value >>= step;
	log |= step;
	step = (value > 0x3) << 1;
	value >>= step;
	log |= step;
	return log | (u32)(value >> 1);
}

/* Below HIST_BUCKETS. */
static inline __attribute__((always_inline)) u32 hist_place(u64 value)
{
	u32 log = hist_log2(value), place;
	u64 rest, cell;

	if (value == 0)
		return 0;
	if (log >= HIST_OCTAVES)
		return HIST_BUCKETS - 1;
	/* What is below the highest bit, as a fraction of it; two shifts, since one by 64 is none.
	 */
	rest = value << (63 - log) << 1;
	cell = hist_cells[rest >> 58];
	place = log * HIST_PER_OCTAVE + (u32)(cell & 15) + (rest >= (cell & ~15ULL)) + 2;
	/* A boundary belongs to the bucket below it; only powers of two are both it and whole. */
	return rest ? place : place - 1;
}

#endif
