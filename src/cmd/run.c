// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../report/report.h"
#include "../store/reader.h"
#include "apart.h"
#include "cmd.h"
#include "measure.h"
#include "target.h"

static const char usage[] =
	"Usage: dwell run [-o FILE] [--json] [--tier A|B] [--max-overhead PERCENT]\n"
	"                 [-F HZ] [--min-block TIME] [--no-stacks] [--lines] [--inline]\n"
	"                 [-s SIGNALS] [--slow TIME] [--pair-limit TIME]\n"
	"                 [--stacks 1/N] [--seed N] [--unwind-rows N]\n"
	"                 [--alloc-every SIZE] [--kernel[=SIZE]] [--live] [--force]\n"
	"                 [--label NAME=VALUE]... [--note TEXT] [-v] [-q]\n"
	"                 -- COMMAND [ARGS]\n"
	"\n"
	"Run a command and report where its wall time went, and that of its children.\n"
	"Each nanosecond of each thread is in exactly one state; what could not be\n"
	"attributed is printed. The report goes to stderr. The command's own output and\n"
	"exit status pass through unchanged.\n"
	"\n"
	"  -o, --output FILE    keep the session, for 'dwell report FILE'\n"
	"  --json               print the report as JSON\n"
	"  --tier A|B           A: hook the scheduler only; B: hook system calls and page\n"
	"                       faults too (default)\n"
	"  --max-overhead PCT   limit dwell's own cost to PCT of the host's CPU time\n"
	"                       (default: no limit): above it, thin rates first, then\n"
	"                       switch parts off, and restore all when the\n"
	"                       cost drops\n" MEASURE_SIGNALS_USAGE MEASURE_STACKS_USAGE
	"  --label NAME=VALUE   store a parameter of the workload in the session\n"
	"  --note TEXT          store a sentence in the session\n"
	"  -v, --verbose        print messages of libbpf and the kernel too\n"
	"  -q, --quiet          print no report\n"
	"  -h, --help           print this text\n"
	"\n"
	"Ctrl-C goes to the command, which decides; a second one ends the measurement\n"
	"only. A SIGINT, SIGTERM, SIGHUP or SIGQUIT sent to dwell ends the measurement\n"
	"with a complete result; the command continues.\n"
	"\n"
	"Exit status: that of the command; 127 if it cannot be run, 77 if this host\n"
	"cannot run dwell, 64 for wrong usage.\n"
	"Overhead: about 150 ns per context switch of the command; in Tier B also 0.3 us\n"
	"per system call and 0.2 us per page fault, and 20 ns per system call of other\n"
	"processes.\n"
	"\n"
	"Examples:\n"
	"  sudo dwell run -- sleep 1\n"
	"  sudo dwell run -o make.dwell --label jobs=4 -- make -j4\n"
	"  sudo dwell run --json -- ./server 2>report.json\n";

struct options {
	struct follow_options follow;
	bool json, help;
};

static int take_option(struct options *options, int option)
{
	switch (option) {
	case 'j':
		options->json = true;
		return 0;
	case 'h':
		options->help = true;
		return 0;
	default:
		if (cmd_common_option(option))
			return 0;
		return measure_take(&options->follow, option, optarg);
	}
}

static int parse(int argc, char **argv, struct options *options)
{
	static const struct option longs[] = {
		{"json", no_argument, NULL, 'j'},
		{"verbose", no_argument, NULL, 'v'},
		{"quiet", no_argument, NULL, 'q'},
		{"help", no_argument, NULL, 'h'},
		MEASURE_LONGS,
		{0},
	};
	int option;

	measure_defaults(&options->follow);
	/* "+": the command's own options are not ours. */
	options->follow.again.command = "run";
	while ((option = getopt_long(argc, argv, "+hvq" MEASURE_LETTERS, longs, NULL)) != -1) {
		if (take_option(options, option))
			return -EINVAL;
		again_note(&options->follow.again, longs, option, optarg);
	}
	if (!options->help && optind >= argc) {
		log_error("run needs a command: dwell run -- sleep 1");
		return -EINVAL;
	}
	options->follow.command = argv + optind;
	return 0;
}

/* The worker wrote what is read here, and is not trusted: a child without privileges reads it. */
struct reading {
	struct report_options report;
	int db_fd, wal_fd;
};

static int print_session(const void *context)
{
	const struct reading *reading = context;
	struct session *session;
	int err = session_open_fds(reading->db_fd, reading->wal_fd, "the session", &session);

	if (err)
		return EXIT_FAILED;
	err = report_print(session_db(session), &reading->report, stderr);
	session_close(session);
	return err ? EXIT_FAILED : EXIT_OK;
}

static void print_report(const struct follow_result *result, const struct options *options)
{
	struct reading reading = {
		.report = {.json = options->json, .session = options->follow.output},
	};
	_cleanup_close_ int db_fd = -1, wal_fd = -1;
	int err = files_reopen(&result->files, result->files_end, &db_fd, &wal_fd);

	reading.db_fd = db_fd;
	reading.wal_fd = wal_fd;
	if (err)
		log_error("cannot read the session again: %s; is /proc mounted?", strerror(-err));
	if (err || apart_run(print_session, &reading, db_fd, wal_fd))
		log_error("cannot make the report; dwell run -o FILE keeps the session");
}

int cmd_run(int argc, char **argv)
{
	struct options options = {0};
	struct follow_result result;

	if (parse(argc, argv, &options)) {
		fputs("Try 'dwell run --help'.\n", stderr);
		return EXIT_USAGE;
	}
	if (options.help) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	if (target_find(options.follow.command[0]))
		return EXIT_CANNOT_EXEC; /* a report would be of dwell's own attempt */
	follow_run(&options.follow, &result);
	if (result.is_reportable && log_level() != LOG_QUIET)
		print_report(&result, &options);
	files_close(&result.files, result.files_end);
	return result.status;
}
