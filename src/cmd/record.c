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
	"                    [--stacks 1/N]\n"
	"                    [--alloc-every SIZE] [--kernel[=SIZE]] [--live] [--force]\n"
	"                    [--label NAME=VALUE]... [--note TEXT] [-v] [-q]\n"
	"                    [-- COMMAND [ARGS]]\n"
	"\n"
	"Records where the time of the host's threads goes, window by window, into a\n"
	"session that dwell report shows: of all, of some processes, or of a command and\n"
	"its children. Ends with the command, after TIME, or at SIGINT, SIGTERM,\n"
	"SIGHUP or SIGQUIT; each leaves a complete session, and a second signal aborts.\n"
	"\n"
	"  -o, --output FILE    the session; default dwell-YYYYmmdd-HHMMSS.dwell\n"
	"  -d, --duration TIME  so long at most, in seconds, or with its unit: 500ms\n" SELECT_USAGE
	"  --tier A|B           A: scheduler hooks only (default, but for a command);\n"
	"                       B: system calls and page faults too\n"
	"  --max-overhead PCT   how much of the host's CPU time dwell may use (default 1%\n"
	"                       with -a, else no limit); then it gives up signals, Tier\n"
	"                       B, stacks, detail, and at last all, and says "
	"so\n" MEASURE_SIGNALS_USAGE MEASURE_STACKS_USAGE
	"  --label NAME=VALUE   note a parameter of the workload in the session\n"
	"  --note TEXT          note a sentence in it\n"
	"  -v, --verbose        also what libbpf and the kernel say\n"
	"  -q, --quiet          no progress\n"
	"  -h, --help           this text\n"
	"\n"
	"Exit status: the command's if there is one; else 0, 1 if the session is not\n"
	"complete, 77 if dwell cannot run here, 64 for wrong usage.\n"
	"Overhead: some 150 ns per context switch of what is followed; with --tier B also\n"
	"some 0.3 us for each of its system calls and 0.2 us for each page fault.\n"
	"\n"
	"Examples:\n"
	"  sudo dwell record -a -d 10\n"
	"  sudo dwell record -p 812 -o db.dwell --label clients=50\n"
	"  sudo dwell record -o build.dwell -- make -j4\n"
	"  sudo dwell record -a -d 10 -s block,runq --slow 20ms\n";

#define DURATION_MAX_S (366 * 86400ULL)

struct options {
	struct follow_options follow;
	char output[64]; /* the default name */
	bool help;
};

static int take_duration(struct options *options, const char *value)
{
	u64 seconds;

	if (!text_parse_u64(value, 1, DURATION_MAX_S, &seconds)) {
		options->follow.duration_ns = seconds * NS_PER_S;
		return 0;
	}
	if (!text_parse_duration(value, NS_PER_MS, DURATION_MAX_S * NS_PER_S,
				 &options->follow.duration_ns))
		return 0;
	log_error("-d is a time of up to %llu s, in seconds or with its unit, as in 10 or 500ms, "
		  "not '%s'",
		  DURATION_MAX_S, value);
	return -EINVAL;
}

static int take_option(struct options *options, int option)
{
	int err;

	switch (option) {
	case 'd':
		return take_duration(options, optarg);
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
	log_error("a command is followed with its children, and nothing else: leave out -a, -p and "
		  "the like, or the command");
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
	while ((option = getopt_long(argc, argv, "+hvqd:" MEASURE_LETTERS SELECT_LETTERS, longs,
				     NULL)) != -1)
		if (take_option(options, option))
			return -EINVAL;
	if (optind < argc)
		options->follow.command = argv + optind;
	if (options->help)
		return 0;
	/* Whoever looks at all of a host is most often not alone on it. */
	if (options->follow.selection.all && !options->follow.max_overhead)
		measure_limit(&options->follow, GOVERNOR_HOST_LIMIT);
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
