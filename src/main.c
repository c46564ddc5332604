// SPDX-License-Identifier: Apache-2.0
/*
 * Dispatch, and nothing else.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/version.h"
#include "cmd/cmd.h"

static const struct command commands[] = {
#define COMMAND(name, about) {#name, about, cmd_##name},
#include "cmd/commands.def"
#undef COMMAND
};

static void print_help(FILE *out)
{
	fputs("dwell tells where every nanosecond of wall-clock time went.\n\n"
	      "Usage: dwell COMMAND [OPTIONS]\n\nCommands:\n",
	      out);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].about);
	fputs("\nExamples:\n"
	      "  sudo dwell doctor           can dwell work on this host?\n"
	      "  sudo dwell doctor --host    and is the host fit to be measured on?\n"
	      "  dwell doctor --help         all options of a command\n\n"
	      "  -h, --help    this text\n"
	      "  -V, --version the version\n",
	      out);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	signal(SIGPIPE,
	       SIG_IGN); /* a closed pipe is an error of write(), told or not by a command */
	if (!name || !strcmp(name, "-h") || !strcmp(name, "--help") || !strcmp(name, "help")) {
		print_help(stdout);
		return EXIT_OK;
	}
	if (!strcmp(name, "-V") || !strcmp(name, "--version")) {
		puts("dwell " DWELL_VERSION);
		return EXIT_OK;
	}
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(name, commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	log_error("there is no command '%s'; 'dwell --help' lists them", name);
	return EXIT_USAGE;
}
