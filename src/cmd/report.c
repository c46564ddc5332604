// SPDX-License-Identifier: Apache-2.0
#include "../report/report.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../../abi/config.h"
#include "../base/cleanup.h"
#include "../base/log.h"
#include "../base/text.h"
#include "../store/reader.h"
#include "apart.h"
#include "cmd.h"

static const char usage[] =
	"Usage: dwell report [OPTIONS] FILE[@FROM-TO]\n"
	"\n"
	"Reads a session and tells how far it can be trusted, what dominates, where the\n"
	"time of its threads went, and why they waited.\n"
	"\n"
	"  FILE@10s-20s   a part: the whole windows in it; also @1.5s-, @-500ms, @10-20\n"
	"  -p, --pid PID  these processes alone, separated by commas\n"
	"  --threads      threads below their processes\n"
	"  --kernel       also the kernel's own threads\n"
	"  --cpus         by CPU, instead of the report\n"
	"  --execs        each exec, instead of the report\n"
	"  --json         as JSON (schema dwell.report/1) on stdout\n"
	"  --color WHEN   auto (default), always or never; NO_COLOR is honoured\n"
	"  -h, --help     this text\n"
	"\n"
	"Exit status: 0 ok, 64 wrong usage, 1 failed. It needs no privilege.\n"
	"\n"
	"Examples:\n"
	"  dwell report make.dwell\n"
	"  dwell report server.dwell@10s-20s --pid 4711 --threads\n"
	"  dwell report --json make.dwell | jq '.processes[] | {comm, wall_ns}'\n";

struct options {
	struct report_options report;
	bool help;
	char *path; /* without the slice; ours */
};

static const struct option longs[] = {
	{"pid", required_argument, NULL, 'p'},
	{"threads", no_argument, NULL, 't'},
	{"kernel", no_argument, NULL, 'k'},
	{"cpus", no_argument, NULL, 'C'},
	{"execs", no_argument, NULL, 'x'},
	{"json", no_argument, NULL, 'j'},
	{"color", required_argument, NULL, 'c'},
	{"verbose", no_argument, NULL, 'v'},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{0},
};

static int parse_option(int option, struct options *options)
{
	struct report_options *report = &options->report;

	switch (option) {
	case 'p':
		if (text_parse_list(optarg, 1, PID_LIMIT, report->pids, REPORT_PIDS_MAX,
				    &report->pid_count)) {
			log_error("--pid takes up to %d numbers separated by commas, not '%s'",
				  REPORT_PIDS_MAX, optarg);
			return -EINVAL;
		}
		return 0;
	case 't':
		report->threads = true;
		return 0;
	case 'k':
		report->kernel = true;
		return 0;
	case 'C':
		report->cpus = true;
		return 0;
	case 'x':
		report->execs = true;
		return 0;
	case 'j':
		report->json = true;
		return 0;
	case 'c':
		return cmd_parse_color(optarg, &report->color);
	case 'h':
		options->help = true;
		return 0;
	}
	return cmd_common_option(option) ? 0 : -EINVAL;
}

/* FILE@FROM-TO, unless a file has that very name. */
static int parse_file(const char *text, struct options *options)
{
	char *at;

	options->path = strdup(text);
	if (!options->path)
		return -ENOMEM;
	at = strrchr(options->path, '@');
	if (!at || !access(options->path, F_OK))
		return 0;
	*at = '\0';
	if (!report_parse_slice(at + 1, &options->report.from_ns, &options->report.to_ns))
		return 0;
	log_error("'%s' is no part of a session: FROM-TO, such as 10s-20s, 1.5s-, -500ms", at + 1);
	return -EINVAL;
}

static int parse(int argc, char **argv, struct options *options)
{
	int option;

	cmd_parse_color("auto", &options->report.color);
	while ((option = getopt_long(argc, argv, "p:hvq", longs, NULL)) != -1)
		if (parse_option(option, options))
			return -EINVAL;
	if (options->help)
		return 0;
	if (argc - optind != 1) {
		log_error(optind < argc ? "report takes one session, but got '%s' too"
					: "report needs a session: dwell report FILE.dwell",
			  argv[optind + (optind < argc)]);
		return -EINVAL;
	}
	return parse_file(argv[optind], options);
}

static int terminal_columns(void)
{
	struct winsize size = {0};

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

/* What the child needs: it was opened as whoever we are, and is read as nobody. */
struct reading {
	const struct options *options;
	int db_fd, wal_fd;
};

static int print_session(const void *context)
{
	const struct reading *reading = context;
	struct session *session;
	int err =
		session_open_fds(reading->db_fd, reading->wal_fd, reading->options->path, &session);

	if (err)
		return EXIT_FAILED;
	err = report_print(session_db(session), &reading->options->report, stdout);
	session_close(session);
	return err ? EXIT_FAILED : EXIT_OK;
}

static int read_session(const struct options *options)
{
	_cleanup_close_ int db_fd = -1, wal_fd = -1;

	if (session_open_files(options->path, &db_fd, &wal_fd))
		return EXIT_FAILED;
	return apart_run(print_session, &(struct reading){options, db_fd, wal_fd}, db_fd, wal_fd);
}

int cmd_report(int argc, char **argv)
{
	struct options options = {0};
	int status;

	if (parse(argc, argv, &options)) {
		fputs("Try 'dwell report --help'.\n", stderr);
		free(options.path);
		return EXIT_USAGE;
	}
	if (options.help) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	options.report.columns = terminal_columns();
	options.report.session = options.path;
	status = read_session(&options);
	free(options.path);
	return status;
}
