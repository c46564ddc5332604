// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/log.h"
#include "cmd.h"
#include "record_options.h"

static const char usage[] =
	"Usage: dwell config --print [OPTIONS]\n"
	"\n"
	"Print the configuration that 'dwell record OPTIONS' would measure with, as YAML\n"
	"on stdout: defaults, what --config FILE or --like FILE says, and OPTIONS, which\n"
	"are those of record. 'dwell record --config FILE' reads it back to the same.\n"
	"Nothing is measured.\n"
	"\n"
	"  --print        print the configuration\n"
	"  -h, --help     print this text\n"
	"\n"
	"Exit status: 0 ok, 64 wrong usage, 1 failed. It needs no privilege.\n"
	"\n"
	"Examples:\n"
	"  dwell config --print -a -d 30 -s block,tcp >run.yaml\n"
	"  dwell config --print --like before.dwell\n"
	"  sudo dwell record --config run.yaml -o after.dwell\n";

/* Its own options; the rest is record's. */
static const struct option longs[] = {
	{"print", no_argument, NULL, 'P'},
	{"help", no_argument, NULL, 'h'},
	{0},
};

static bool is_long(const char *argument, const struct option *row)
{
	return !strncmp(argument, "--", 2) && !strcmp(argument + 2, row->name);
}

static int print(struct record_options *options)
{
	struct effective *effective = calloc(1, sizeof(*effective));

	if (!effective || record_effective(options, effective)) {
		log_error("cannot print the configuration: not enough memory");
		free(effective);
		return EXIT_FAILED;
	}
	printf("# dwell record, run id %s\n", options->engine.run_id);
	if (options->engine.command)
		puts("# The command is not in it: write it on the command line, after --");
	effective_write(effective, stdout);
	effective_free(effective);
	free(effective);
	return EXIT_OK;
}

int cmd_config(int argc, char **argv)
{
	struct record_options *options;
	int status;

	if (argc > 1 && (!strcmp(argv[1], "-h") || is_long(argv[1], &longs[1]))) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	if (argc < 2 || !is_long(argv[1], &longs[0])) {
		log_error("config needs --print first: dwell config --print -a -d 30");
		return given_status(-EINVAL, "config");
	}
	options = calloc(1, sizeof(*options));
	if (!options) {
		log_error("cannot print the configuration: not enough memory");
		return EXIT_FAILED;
	}
	argv[1] = argv[0];
	/* Without a word on what to measure it is a beginning for somebody's own file. */
	status = record_take(argc - 1, argv + 1, options);
	if (status)
		status = given_status(status, "config");
	else if (options->help)
		status = (fputs(usage, stdout), EXIT_OK);
	else
		status = print(options);
	given_free(&options->given);
	free(options);
	return status;
}
