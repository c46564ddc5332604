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
	MEASURE_FREQ = 'F',
	MEASURE_SIGNALS = 's',
	MEASURE_TIER = 0x100,
	MEASURE_LABEL,
	MEASURE_NOTE,
	MEASURE_OVERHEAD,
	MEASURE_MIN_BLOCK,
	MEASURE_NO_STACKS,
	MEASURE_LINES,
	MEASURE_INLINE,
	MEASURE_SEED,
	MEASURE_SLOW,
	MEASURE_PAIR_LIMIT,
	MEASURE_STACKS,
	MEASURE_ALLOC_EVERY,
	MEASURE_KERNEL,
	MEASURE_LIVE,
	MEASURE_FORCE,
};

/* For getopt_long(): rows of the command's own table, and letters of its own string. */
#define MEASURE_LETTERS "o:F:s:"
#define MEASURE_LONGS                                                                              \
	{"output", required_argument, NULL, MEASURE_OUTPUT},                                       \
		{"tier", required_argument, NULL, MEASURE_TIER},                                   \
		{"max-overhead", required_argument, NULL, MEASURE_OVERHEAD},                       \
		{"freq", required_argument, NULL, MEASURE_FREQ},                                   \
		{"min-block", required_argument, NULL, MEASURE_MIN_BLOCK},                         \
		{"no-stacks", no_argument, NULL, MEASURE_NO_STACKS},                               \
		{"lines", no_argument, NULL, MEASURE_LINES},                                       \
		{"inline", no_argument, NULL, MEASURE_INLINE},                                     \
		{"seed", required_argument, NULL, MEASURE_SEED},                                   \
		{"signals", required_argument, NULL, MEASURE_SIGNALS},                             \
		{"slow", required_argument, NULL, MEASURE_SLOW},                                   \
		{"pair-limit", required_argument, NULL, MEASURE_PAIR_LIMIT},                       \
		{"stacks", required_argument, NULL, MEASURE_STACKS},                               \
		{"alloc-every", required_argument, NULL, MEASURE_ALLOC_EVERY},                     \
		{"kernel", optional_argument, NULL, MEASURE_KERNEL},                               \
		{"live", no_argument, NULL, MEASURE_LIVE},                                         \
		{"force", no_argument, NULL, MEASURE_FORCE},                                       \
		{"label", required_argument, NULL, MEASURE_LABEL},                                 \
	{                                                                                          \
		"note", required_argument, NULL, MEASURE_NOTE                                      \
	}

#define MEASURE_STACKS_USAGE                                                                       \
	"  -F, --freq HZ        samples a second on each CPU (default 49; 0: none)\n"              \
	"  --min-block TIME     waits so long always have their stack taken (default\n"            \
	"                       1ms); of shorter ones some have\n"                                 \
	"  --no-stacks          no samples, and no stacks of waits\n"                              \
	"  --lines              source lines too, where there is debug information\n"              \
	"  --inline             inlined functions too, likewise\n"                                 \
	"  --seed N             for the choice of short waits (default: at random)\n"

#define MEASURE_SIGNALS_USAGE                                                                      \
	"  -s, --signals LIST   measure these too, with commas; -s help lists them\n"              \
	"  --slow TIME          of their events, tell those so long one by one (default\n"         \
	"                       10ms; 0: none)\n"                                                  \
	"  --pair-limit TIME    a start waits so long for its end (default 5s)\n"                  \
	"  --stacks 1/N         of system calls and page faults that are measured, one in\n"       \
	"                       N has its stack taken (default: none)\n"                           \
	"  --alloc-every SIZE   alloc: a sample for so many bytes (default 512K; 1: all)\n"        \
	"  --kernel[=SIZE]      alloc: the kernel's own allocations, too, so large (64K)\n"        \
	"  --live               alloc: what is freed again, too; then free has a probe\n"          \
	"  --force              alloc: go on, whatever it costs\n"

/* What holds if no option says otherwise; before the first measure_take(). */
void measure_defaults(struct follow_options *options);

/* --max-overhead: 0; -EINVAL, told on stderr. */
int measure_limit(struct follow_options *options, const char *value);

/* 0; -ENOENT if the option is none of these; -EINVAL, told on stderr. */
int measure_take(struct follow_options *options, int option, const char *value);

#endif
