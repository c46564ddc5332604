// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "../base/clock.h"
#include "../base/log.h"
#include "../base/text.h"
#include "../capture/governor.h"
#include "cmd.h"
#include "measure.h"

static const char usage[] =
	"Usage: dwell record [-o FILE] [-d TIME] [-a | -p PIDS | ...] [--tier A|B]\n"
	"                    [--max-overhead PERCENT] [-F HZ] [--min-block TIME]\n"
	"                    [--no-stacks] [--lines] [--inline] [--seed N]\n"
	"                    [-s SIGNALS] [--slow TIME] [--pair-limit TIME]\n"
	"                    [--stacks 1/N] [--unwind-rows N]\n"
	"                    [--alloc-every SIZE] [--kernel[=SIZE]] [--live] [--force]\n"
	"                    [--label NAME=VALUE]... [--note TEXT] [-v] [-q]\n"
	"                    [-- COMMAND [ARGS]]\n"
	"\n"
	"Record where the time of threads goes into a session file, in windows of a\n"
	"second: of the whole host, of some processes, or of a command and its children.\n"
	"'dwell report FILE' shows it. Stop with the command, after TIME, or at SIGINT,\n"
	"SIGTERM, SIGHUP or SIGQUIT; each leaves a complete session. A second signal\n"
	"aborts.\n"
	"\n"
	"  -o, --output FILE    write the session to FILE (default: a new\n"
	"                       dwell-YYYYmmdd-HHMMSS.dwell)\n"
	"  -d, --duration TIME  stop after TIME: seconds, or 500ms, 1.5s, 90s, 2m, "
	"1h\n" SELECT_USAGE
	"  --tier A|B           A: hook the scheduler only (default without a command);\n"
	"                       B: hook system calls and page faults too\n"
	"  --max-overhead PCT   limit dwell's own cost to PCT of the host's CPU time\n"
	"                       (default 5%; with a command: no limit): above it, thin\n"
	"                       rates first, then switch parts off; restore all of it\n"
	"                       when the cost drops\n" MEASURE_SIGNALS_USAGE MEASURE_STACKS_USAGE
	"  --label NAME=VALUE   store a parameter of the workload in the session\n"
	"  --note TEXT          store a sentence in the session\n"
	"  -v, --verbose        print messages of libbpf and the kernel too\n"
	"  -q, --quiet          print no progress\n"
	"  -h, --help           print this text\n"
	"\n"
	"Exit status: that of the command, if there is one; else 0, 1 if the session is\n"
	"not complete, 77 if this host cannot run dwell, 64 for wrong usage.\n"
	"Overhead: about 150 ns per context switch of a measured thread; with --tier B\n"
	"also 0.3 us per system call and 0.2 us per page fault.\n"
	"\n"
	"Examples:\n"
	"  sudo dwell record -a -d 10\n"
	"  sudo dwell record -p 812 -o db.dwell --label clients=50\n"
	"  sudo dwell record -o build.dwell -- make -j4\n"
	"  sudo dwell record -a -d 10 -s block,runq --slow 20ms\n";

struct options {
	struct follow_options follow;
	char output[64]; /* the default name */
	bool help;
};

static int take_option(struct options *options, int option)
{
	int err;

	switch (option) {
	case 'd':
		return measure_duration(&options->follow, optarg);
	case 'h':
		options->help = true;
		return 0;
	default:
		if (cmd_common_option(option))
			return 0;
		err = select_take(&options->follow.selection, option, optarg);
		if (err == -ENOENT)
			err = measure_take(&options->follow, option, optarg);
		return err;
	}
}

/* A command is what is followed; tasks are chosen without one. */
static int check_choice(const struct options *options)
{
	const struct selection *selection = &options->follow.selection;

	if (!options->follow.command)
		return select_finish(selection);
	if (!selection->all && !selection->count)
		return 0;
	log_error("a command is measured with its children only: leave out -a, -p and similar "
		  "options, or the command");
	return -EINVAL;
}

static int parse(int argc, char **argv, struct options *options)
{
	static const struct option longs[] = {
		{"duration", required_argument, NULL, 'd'},
		{"verbose", no_argument, NULL, 'v'},
		{"quiet", no_argument, NULL, 'q'},
		{"help", no_argument, NULL, 'h'},
		MEASURE_LONGS,
		SELECT_LONGS,
		{0},
	};
	int option;

	measure_defaults(&options->follow);
	options->follow.again.command = "record";
	while ((option = getopt_long(argc, argv, "+hvqd:" MEASURE_LETTERS SELECT_LETTERS, longs,
				     NULL)) != -1) {
		if (take_option(options, option))
			return -EINVAL;
		again_note(&options->follow.again, longs, option, optarg);
	}
	if (optind < argc)
		options->follow.command = argv + optind;
	if (options->help)
		return 0;
	/* Whoever looks at a host that works for others is not to be in their way. */
	if (!options->follow.command && !options->follow.max_overhead)
		measure_limit(&options->follow, GOVERNOR_RECORD_LIMIT);
	return check_choice(options);
}

static void name_output(struct options *options)
{
	time_t now = time(NULL);
	struct tm local;

	if (options->follow.output)
		return;
	localtime_r(&now, &local);
	strftime(options->output, sizeof(options->output), "dwell-%Y%m%d-%H%M%S.dwell", &local);
	options->follow.output = options->output;
}

static void tell_result(const struct follow_result *result, const char *path)
{
	log_info("%.1f s in %llu window%s, %.1f MB: 'dwell report %s' shows it%s",
		 (double)result->wall_ns / 1e9, (unsigned long long)result->windows,
		 result->windows == 1 ? "" : "s", (double)result->file_bytes / 1e6, path,
		 result->is_complete ? "" : "; it is not complete");
}

int cmd_record(int argc, char **argv)
{
	struct options options = {0};
	struct follow_result result;

	if (parse(argc, argv, &options)) {
		fputs("Try 'dwell record --help'.\n", stderr);
		return EXIT_USAGE;
	}
	if (options.help) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	name_output(&options);
	options.follow.show_progress = isatty(STDERR_FILENO) && log_level() == LOG_NORMAL;
	follow_run(&options.follow, &result);
	if (result.is_reportable)
		tell_result(&result, options.follow.output);
	files_close(&result.files, result.files_end);
	return result.status;
}
