// SPDX-License-Identifier: Apache-2.0
/* The options of record: its table, what each of them does, and what does not go together. */
#include "record_options.h"

#include <errno.h>

#include "../base/clock.h"
#include "../base/log.h"
#include "../base/text.h"
#include "../capture/governor.h"
#include "cmd.h"
#include "measure.h"

enum { OPTION_ROTATE = 0x300, OPTION_KEEP };

#define ROTATE_MAX_S (366 * 86400ULL)
#define KEEP_MAX     1000000

static int take_rotate(struct engine_options *options, const char *value)
{
	if (!text_parse_seconds(value, NS_PER_S, ROTATE_MAX_S * NS_PER_S, &options->rotate_ns))
		return 0;
	log_error("--rotate takes a time from 1s to %llus: seconds, or " TEXT_TIME_FORMS
		  ", not '%s'",
		  ROTATE_MAX_S, value);
	return -EINVAL;
}

static int take_keep(struct engine_options *options, const char *value)
{
	if (!text_parse_u64(value, 2, KEEP_MAX, &options->keep))
		return 0;
	log_error("--keep is a number of files from 2 to %d, not '%s'", KEEP_MAX, value);
	return -EINVAL;
}

static int take_option(void *context, int option, const char *value)
{
	struct record_options *options = context;
	int err;

	switch (option) {
	case 'd':
		return measure_duration(&options->engine, value);
	case OPTION_ROTATE:
		return take_rotate(&options->engine, value);
	case OPTION_KEEP:
		return take_keep(&options->engine, value);
	case MEASURE_DRY_RUN:
		options->is_dry_run = true;
		return 0;
	case 'h':
		options->help = true;
		return 0;
	default:
		if (cmd_common_option(option))
			return 0;
		err = select_take(&options->engine.selection, option, value);
		if (err == -ENOENT)
			err = measure_take(&options->engine, option, value);
		return err;
	}
}

/* A command is what is followed; tasks are chosen without one. */
static int check_choice(const struct record_options *options)
{
	const struct selection *selection = &options->engine.selection;

	if (options->engine.keep && !options->engine.rotate_ns) {
		log_error(
			"--keep says how many files of --rotate stay: add --rotate, as in --rotate "
			"60s, or leave it out");
		return -EINVAL;
	}
	if (!options->engine.command)
		return select_finish(selection);
	if (!selection->all && !selection->count)
		return 0;
	log_error("a command is measured with its children only: leave out -a, -p and similar "
		  "options, or the command");
	return -EINVAL;
}

static const struct option longs[] = {
	{"duration", required_argument, NULL, 'd'},
	{"rotate", required_argument, NULL, OPTION_ROTATE},
	{"keep", required_argument, NULL, OPTION_KEEP},
	{"warmup", required_argument, NULL, MEASURE_WARMUP},
	{"verbose", no_argument, NULL, 'v'},
	{"quiet", no_argument, NULL, 'q'},
	{"dry-run", no_argument, NULL, MEASURE_DRY_RUN},
	{"help", no_argument, NULL, 'h'},
	MEASURE_LONGS,
	SELECT_LONGS,
	GIVEN_LONGS,
	{0},
};

static struct given_command command_of(struct record_options *options)
{
	return (struct given_command){
		.name = "record",
		.letters = "+hvqd:" MEASURE_LETTERS SELECT_LETTERS,
		.longs = longs,
		.chooses_tasks = select_is_option,
		.take = take_option,
		.options = options,
		.engine = &options->engine,
	};
}

int record_take(int argc, char **argv, struct record_options *options)
{
	const struct given_command command = command_of(options);
	int err;

	measure_defaults(&options->engine);
	options->engine.again.command = command.name;
	err = given_parse(argc, argv, &command, &options->given);
	if (err || options->help)
		return err;
	/* Whoever looks at a host that works for others is not to be in their way. */
	if (!options->engine.command && !options->engine.max_overhead)
		measure_limit(&options->engine, GOVERNOR_RECORD_LIMIT);
	return given_identify(&options->given, &command);
}

int record_parse(int argc, char **argv, struct record_options *options)
{
	int err = record_take(argc, argv, options);

	return err || options->help ? err : check_choice(options);
}

int record_effective(struct record_options *options, struct effective *ret_effective)
{
	const struct given_command command = command_of(options);

	return given_effective(&options->given, &command, ret_effective);
}
