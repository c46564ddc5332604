/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options that every command with a session shares: where it is kept, what is noted in it, how
 * closely is looked, and what that may cost. Owns nothing. Called by run and record.
 */
#ifndef DWELL_CMD_MEASURE_H
#define DWELL_CMD_MEASURE_H

#include <getopt.h>

#include "follow.h"

enum measure_option {
	MEASURE_OUTPUT = 'o',
	MEASURE_TIER = 0x100,
	MEASURE_LABEL,
	MEASURE_NOTE,
	MEASURE_OVERHEAD
};

/* For getopt_long(): rows of the command's own table, and letters of its own string. */
#define MEASURE_LETTERS "o:"
#define MEASURE_LONGS                                                                              \
	{"output", required_argument, NULL, MEASURE_OUTPUT},                                       \
		{"tier", required_argument, NULL, MEASURE_TIER},                                   \
		{"max-overhead", required_argument, NULL, MEASURE_OVERHEAD},                       \
		{"label", required_argument, NULL, MEASURE_LABEL},                                 \
	{                                                                                          \
		"note", required_argument, NULL, MEASURE_NOTE                                      \
	}

/* --max-overhead: 0; -EINVAL, told on stderr. */
int measure_limit(struct follow_options *options, const char *value);

/* 0; -ENOENT if the option is none of these; -EINVAL, told on stderr. */
int measure_take(struct follow_options *options, int option, const char *value);

#endif
