/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an option is to a measurement that is run again: the one list of options that are not simply
 * "shapes the measurement, has one value, which is a text". A new option that is just that needs no
 * row here. Owns nothing. Called by whoever keeps, reads or compares options: files, sessions, the
 * run id.
 */
#ifndef DWELL_CONFIG_OPTION_KIND_H
#define DWELL_CONFIG_OPTION_KIND_H

#include <getopt.h>

#include "../../abi/types.h"

enum option_kind {
	OPTION_BESIDE = 1,  /* where the result goes, how it is shown, what is noted beside it */
	OPTION_ADDS_UP = 2, /* may be given several times: all of them hold */
	OPTION_LISTS = 4,   /* a comma separates several values in one */
	OPTION_WRITES = 8,  /* files: never taken from a session, and not in the run id */
	OPTION_NOT_IN_FILE = 16, /* of --config: on the command line only */
};

/* What a value is, where two texts can mean the same. */
enum option_value {
	VALUE_TEXT,
	VALUE_NUMBER,
	VALUE_TIME,
	VALUE_SECONDS, /* a time; a number without a unit is seconds */
	VALUE_SIZE,
	VALUE_PERCENT,
	VALUE_LETTER, /* in either case */
};

/* The kinds of an option by its long name, as bits; 0: it has none of them. */
u32 option_kinds(const char *name);
enum option_value option_value(const char *name);

/* A row of a command's table of options: by its long name, or by its letter or number; or NULL. */
const struct option *option_by_name(const struct option *longs, const char *name);
const struct option *option_by_value(const struct option *longs, int value);

#endif
