// SPDX-License-Identifier: Apache-2.0
/*
 * Dispatch, and nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/descriptors.h"
#include "base/log.h"
#include "base/version.h"
#include "cmd/cmd.h"
#include "model/failure.h"

static const struct command commands[] = {
#define COMMAND(name, about) {#name, about, cmd_##name},
#include "cmd/commands.def"
#undef COMMAND
};

static void print_help(FILE *out)
{
	fputs("dwell shows where every nanosecond of wall-clock time of each thread went.\n\n"
	      "Usage: dwell COMMAND [OPTIONS]\n\nCommands:\n",
	      out);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].about);
	fputs("\nExamples:\n"
	      "  sudo dwell run -- make -j4  where did the time of a command go?\n"
	      "  sudo dwell record -a -d 10  where does the time of the host go?\n"
	      "  dwell report FILE           read it; --html PAGE to look at it\n"
	      "  dwell run --help            print all options of a command\n\n"
	      "  -h, --help    print this text\n"
	      "  -V, --version print the version\n",
	      out);
}

/* A closed stdin, stdout or stderr would become the first file that we open. */
static int open_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd < 0) {
		int err = errno;
		bool is_limit = err == EMFILE || err == ENFILE;
		bool may_pass = failure_may_pass(err) && !is_limit;

		log_error("cannot open /dev/null, which dwell's helpers need: %s%s%s",
			  strerror(err), may_pass ? "" : "; ",
			  may_pass   ? ""
			  : is_limit ? descriptors_advice(err)
				     : "mount /dev here");
		return may_pass ? EXIT_FAILED : EXIT_UNSUPPORTED;
	}
	close(fd);
	return EXIT_OK;
}

/* It would open files, and run commands, with rights that are not the caller's. */
static int refuse_setuid(void)
{
	if (getuid() == geteuid() && getgid() == getegid())
		return EXIT_OK;
	log_error("cannot run: this binary is set-user-ID or set-group-ID, with which any user "
		  "would have the owner's rights; remove that bit (chmod ug-s), and use sudo, or "
		  "setcap cap_bpf,cap_perfmon,cap_dac_read_search+ep");
	return EXIT_UNSUPPORTED;
}

static int dispatch(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "help";
	bool help = !strcmp(name, "-h") || !strcmp(name, "--help") || !strcmp(name, "help");

	if (!strcmp(name, "-V") || !strcmp(name, "--version")) {
		puts("dwell " DWELL_VERSION);
		return EXIT_OK;
	}
	if (help && argc <= 2) {
		print_help(stdout);
		return EXIT_OK;
	}
	if (help) /* dwell help COMMAND */
		name = argv[2];
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		char full_name[64];
		char *help_args[] = {full_name, (char *)"--help", NULL};

		if (strcmp(name, commands[i].name))
			continue;
		snprintf(full_name, sizeof(full_name), "dwell %s", name);
		if (help)
			return commands[i].run(2, help_args);
		argv[1] = full_name; /* getopt opens its complaints with it */
		return commands[i].run(argc - 1, argv + 1);
	}
	if (name[0] == '-')
		log_error("unknown option '%s'; options come after the command, as in "
			  "'dwell doctor --json'",
			  name);
	else
		log_error("there is no command '%s'; 'dwell --help' lists them", name);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	int status;

	descriptors_raise();
	status = open_standard_files();
	if (!status)
		status = refuse_setuid();
	if (status)
		return status;
	signal(SIGPIPE, SIG_IGN); /* writing says so */
	return cmd_check_stdout(dispatch(argc, argv));
}
