/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of record, also for `dwell config`, which prints them. Owns what given.h owns.
 */
#ifndef DWELL_CMD_RECORD_OPTIONS_H
#define DWELL_CMD_RECORD_OPTIONS_H

#include "given.h"

struct record_options {
	struct engine_options engine;
	struct given given;
	char output[64]; /* the default name */
	bool help, is_dry_run;
};

/* Each option by itself: 0 or -errno, told. given_free() in any case. */
int record_take(int argc, char **argv, struct record_options *options);

/* The same, and do they go together, and say what to measure? */
int record_parse(int argc, char **argv, struct record_options *options);

/* What holds, as given_effective() has it. */
int record_effective(struct record_options *options, struct effective *ret_effective);

#endif
