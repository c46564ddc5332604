/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a command as they were typed, for a session to keep: with them the measurement can
 * be run again. Only dwell's own options, and of these only what shapes the measurement: never the
 * target command's arguments. Owns nothing: values stay in argv. Called by run, record and trace.
 */
#ifndef DWELL_ENGINE_RUN_AGAIN_H
#define DWELL_ENGINE_RUN_AGAIN_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#define RUN_AGAIN_MAX	192
#define RUN_AGAIN_BYTES 480 /* of one option with its value, as the report reads it */

struct run_again_option {
	const char *name; /* the long one; NULL: it has only a letter */
	char letter;	  /* 0: it has only a name */
	bool is_optional; /* a value, if there is one, follows a '=' */
	const char *value;
};

struct run_again {
	const char *command; /* run, record or trace */
	struct run_again_option options[RUN_AGAIN_MAX];
	size_t count;
	size_t cut; /* options that were left out: too many, or too long */
};

/* What getopt_long() has returned; what does not shape the measurement is left out. */
void run_again_note(struct run_again *again, const struct option *longs, int option,
		    const char *value);

/*
 * Each option as one text, "-a", "-d 10", "--kernel=64K"; a long list of numbers or names becomes
 * several. Returns how many were left out.
 */
size_t run_again_list(const struct run_again *again,
		      void (*on_one)(void *context, const char *text), void *context);

#endif
