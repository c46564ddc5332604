/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options that a measurement is given, wherever they come from: defaults, then the file of
 * --config or the session of --like, then the command line. All of them go through the command's
 * own parser, one by one. An option of the command line replaces those of its name in the file; one
 * that chooses tasks, or a command, replaces all that choose tasks there. Owns the file's texts.
 * Called by run, record, trace and config.
 */
#ifndef DWELL_CMD_GIVEN_H
#define DWELL_CMD_GIVEN_H

#include <getopt.h>

#include "../config/config.h"
#include "../config/effective.h"
#include "../config/session_facts.h"
#include "../engine/engine.h"

enum given_option_id { GIVEN_CONFIG = 0x500, GIVEN_LIKE };

/* For getopt_long(): rows of the command's own table. */
#define GIVEN_LONGS                                                                                \
	{"config", required_argument, NULL, GIVEN_CONFIG},                                         \
	{                                                                                          \
		"like", required_argument, NULL, GIVEN_LIKE                                        \
	}

#define GIVEN_USAGE                                                                                \
	"  --config FILE        take options from a YAML file; those of the command line\n"        \
	"                       replace them\n"                                                    \
	"  --like FILE          measure as the session FILE was, and print what differs\n"         \
	"                       from it: options, host, settings, hooks, builds\n"

#define GIVEN_MAX 256 /* options of one command line */

struct given_option {
	int option; /* as getopt_long() returned it */
	const char *value;
};

/* What a command is, to the parser of its options. */
struct given_command {
	const char *name;
	const char *letters; /* of getopt_long() */
	const struct option *longs;
	bool (*chooses_tasks)(int option);			   /* NULL: none does */
	int (*take)(void *options, int option, const char *value); /* 0 or -errno, told */
	void *options;						   /* for take() */
	struct engine_options *engine;
};

struct given {
	struct given_option options[GIVEN_MAX]; /* of the command line */
	size_t count;
	struct config file;	   /* of --config or --like, without what was replaced */
	const char *config, *like; /* the options; NULL: not given */
	struct session_facts *like_facts;
};

/*
 * The whole command line: 0; -EINVAL, told, if it is wrong, or the file's text is; other -errno,
 * told, if that could not be found out. What is left of it is the target command, which is in
 * engine->command then. Every option was taken, and noted in engine->again.
 */
int given_parse(int argc, char **argv, const struct given_command *command, struct given *given);

/* What a command ends with that could not take its options; wrong usage leads to its help. */
int given_status(int err, const char *command);

/*
 * The configuration that holds: each option in the order of the command's table, with what it is
 * by default: 0 or -errno, told. The caller frees it. And the run id into the engine's options.
 */
int given_effective(const struct given *given, const struct given_command *command,
		    struct effective *ret_effective);
int given_identify(const struct given *given, const struct given_command *command);

/* After the measurement: what differs from the session of --like, on stderr. */
void given_compare(const struct given *given, const struct engine_result *result);

void given_free(struct given *given);

#endif
