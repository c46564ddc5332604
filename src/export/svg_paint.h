/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a flame graph writes things: text, durations, colours. Owns nothing. Called by svg.c.
 */
#ifndef DWELL_EXPORT_SVG_PAINT_H
#define DWELL_EXPORT_SVG_PAINT_H

#include "export.h"

#define SVG_SAMPLES  96
#define SVG_DURATION 32

/* What a box is, and so its colour; the first are those of functions. */
enum look {
	LOOK_USER,
	LOOK_KERNEL,
	LOOK_JIT,
	LOOK_UNNAMED,
	LOOK_MARK,
	LOOK_PROCESS,
	LOOK_INLINED,
	LOOK_ALL
};

const char *svg_look_name(enum look look);

/* Neighbours with other names have another shade, the same name the same one. */
void svg_color(enum look look, const char *name, FILE *out);

/* Fit for XML, whatever it is. */
void svg_escaped(const char *text, FILE *out);

/* "1 sample", "415 samples (369.0 effective)" */
const char *svg_samples(const struct profile_sum *sum, char buf[SVG_SAMPLES]);
const char *svg_duration(u64 ns, char buf[SVG_DURATION]);

#endif
