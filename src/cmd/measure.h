/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options that every command with a session shares: where it is kept, what is noted in it, how
 * closely is looked, and what that may cost. Owns nothing. Called by run and record.
 */
#ifndef DWELL_CMD_MEASURE_H
#define DWELL_CMD_MEASURE_H

#include <getopt.h>

#include "../engine/engine.h"

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
	MEASURE_UNWIND_ROWS,
	MEASURE_SLOW,
	MEASURE_SERVER_MODEL,
	MEASURE_PAIR_LIMIT,
	MEASURE_STACKS,
	MEASURE_ALLOC_EVERY,
	MEASURE_KERNEL,
	MEASURE_LIVE,
	MEASURE_FORCE,
	MEASURE_DRY_RUN, /* of run and record only, as is the next one */
	MEASURE_WARMUP,
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
		{"unwind-rows", required_argument, NULL, MEASURE_UNWIND_ROWS},                     \
		{"signals", required_argument, NULL, MEASURE_SIGNALS},                             \
		{"slow", required_argument, NULL, MEASURE_SLOW},                                   \
		{"pair-limit", required_argument, NULL, MEASURE_PAIR_LIMIT},                       \
		{"server-model", required_argument, NULL, MEASURE_SERVER_MODEL},                   \
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
	"  -F, --freq HZ        sample each CPU HZ times a second (default 49; 0: never)\n"        \
	"  --min-block TIME     always capture the stack of waits of at least TIME\n"              \
	"                       (default 1ms), and sample shorter ones\n"                          \
	"  --no-stacks          capture no stacks\n"                                               \
	"  --lines              look up source lines, where there is debug information\n"          \
	"  --inline             look up inlined functions, likewise\n"                             \
	"  --seed N             seed of the sampling of short waits (default: random)\n"           \
	"  --unwind-rows N      set the capacity of the unwind tables, in rows of 8 bytes\n"       \
	"                       (default 2M)\n"

/* Of run and record. */
#define MEASURE_WARMUP_USAGE                                                                       \
	"  --warmup TIME        measure for TIME first, and discard it: at least 1s\n"

#define MEASURE_SIGNALS_USAGE                                                                      \
	"  -s, --signals LIST   record these signals, comma-separated; -s help lists them\n"       \
	"  --slow TIME          list each event of a signal that takes at least TIME\n"            \
	"                       (default 10ms; 0: none)\n"                                         \
	"  --pair-limit TIME    drop an unmatched start after TIME (default 5s; 0: never)\n"       \
	"  --server-model MODEL requests: take each server for thread (one request per\n"          \
	"                       thread at a time) or loop (event loop); default auto:\n"           \
	"                       find out\n"                                                        \
	"  --stacks 1/N         capture the stack of one in N system calls or page faults\n"       \
	"                       of -s syscalls and -s faults (default: none)\n"                    \
	"  --alloc-every SIZE   alloc: one sample per SIZE bytes (default 512K; 1: all)\n"         \
	"  --kernel[=SIZE]      alloc: include kernel allocations of at least SIZE (64K)\n"        \
	"  --live               alloc: follow each allocation until it is freed\n"                 \
	"  --force              alloc, requests: keep probes whatever they cost\n"

/* What holds if no option says otherwise; before the first measure_take(). */
void measure_defaults(struct engine_options *options);

/* What that is, of one option, as it would be typed; NULL: nothing, or that is not one text. */
const char *measure_default(const struct engine_options *options, int option);

/* -d: 0; -EINVAL, reported on stderr. */
int measure_duration(struct engine_options *options, const char *value);

/* --max-overhead: 0; -EINVAL, told on stderr. */
int measure_limit(struct engine_options *options, const char *value);

/* 0; -ENOENT if the option is none of these; -EINVAL, told on stderr. */
int measure_take(struct engine_options *options, int option, const char *value);

#endif
