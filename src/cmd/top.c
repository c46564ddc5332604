// SPDX-License-Identifier: Apache-2.0
#include "../top/top.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../base/log.h"
#include "../base/text.h"
#include "../capture/governor.h"
#include "cmd.h"
#include "measure.h"

static const char usage[] =
	"Usage: dwell top [-a | -p PIDS | ...] [--tier A|B] [-d TIME] [--by service|process]\n"
	"                 [--filter TEXT] [--batch N] [--max-overhead PERCENT] [-F HZ]\n"
	"                 [--min-block TIME] [--no-stacks] [-s SIGNALS] [--slow TIME]\n"
	"                 [-v] [-q]\n"
	"\n"
	"Show where the time of services and processes went in the last second, with a bar\n"
	"of their ledger. Enter opens a line: states with causes, threads, stacks. 's'\n"
	"saves the last minute as a session for 'dwell report'. '?' lists all keys.\n"
	"Without options the whole host is measured.\n"
	"\n" SELECT_USAGE "  --tier A|B           A: hook the scheduler only (default);\n"
	"                       B: hook system calls and page faults too\n"
	"  -d, --duration TIME  stop after TIME: seconds, or 500ms, 1.5s, 90s, 2m, 1h\n"
	"  --by KIND            begin with a line per service (default) or process\n"
	"  --filter TEXT        begin with lines whose names contain TEXT\n"
	"  --batch N            print N refreshes as text to stdout, and use no terminal\n"
	"  --max-overhead PCT   limit dwell's own cost to PCT of the host's CPU time\n"
	"                       (default 5%)\n"
	"  -s, --signals LIST   record these signals, too, for saved sessions;\n"
	"                       -s help lists them\n"
	"  --slow TIME          list each event of a signal that takes at least TIME\n"
	"                       (default 10ms; 0: none)\n"
	"  -F, --freq HZ        sample each CPU HZ times a second (default 49; 0: never)\n"
	"  --min-block TIME     always capture the stack of waits of at least TIME\n"
	"                       (default 1ms), and sample shorter ones\n"
	"  --no-stacks          capture no stacks\n"
	"  -v, --verbose        print messages of libbpf and the kernel too\n"
	"  -q, --quiet          print errors only\n"
	"  -h, --help           print this text\n"
	"\n"
	"Exit status: 0, 1 if something failed, 77 if this host cannot run dwell, 64 for\n"
	"wrong usage.\n"
	"Overhead: that of 'dwell record' with the same options, and the screen.\n"
	"\n"
	"Examples:\n"
	"  sudo dwell top\n"
	"  sudo dwell top --cgroup /system.slice/nginx.service --by process\n"
	"  sudo dwell top --batch 3\n";

enum { OPTION_BATCH = 0x300, OPTION_BY, OPTION_FILTER };

#define BATCH_MAX 1000000

struct options {
	struct top_options top;
	bool help;
};

static const struct option longs[] = {
	{"duration", required_argument, NULL, 'd'},
	{"batch", required_argument, NULL, OPTION_BATCH},
	{"by", required_argument, NULL, OPTION_BY},
	{"filter", required_argument, NULL, OPTION_FILTER},
	{"tier", required_argument, NULL, MEASURE_TIER},
	{"max-overhead", required_argument, NULL, MEASURE_OVERHEAD},
	{"freq", required_argument, NULL, MEASURE_FREQ},
	{"min-block", required_argument, NULL, MEASURE_MIN_BLOCK},
	{"no-stacks", no_argument, NULL, MEASURE_NO_STACKS},
	{"signals", required_argument, NULL, MEASURE_SIGNALS},
	{"slow", required_argument, NULL, MEASURE_SLOW},
	{"verbose", no_argument, NULL, 'v'},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	SELECT_LONGS,
	{0},
};

static int take_batch(struct options *options, const char *value)
{
	if (!text_parse_u64(value, 1, BATCH_MAX, &options->top.refreshes))
		return 0;
	log_error("--batch takes a number of refreshes from 1 to %d, not '%s'", BATCH_MAX, value);
	return -EINVAL;
}

static int take_by(struct options *options, const char *value)
{
	if (strcmp(value, "service") && strcmp(value, "process")) {
		log_error("--by is service or process, not '%s'", value);
		return -EINVAL;
	}
	options->top.by_process = !strcmp(value, "process");
	return 0;
}

static int take_option(struct options *options, int option)
{
	int err;

	switch (option) {
	case 'd':
		return measure_duration(&options->top.engine, optarg);
	case OPTION_BATCH:
		return take_batch(options, optarg);
	case OPTION_BY:
		return take_by(options, optarg);
	case OPTION_FILTER:
		options->top.filter = optarg;
		return 0;
	case 'h':
		options->help = true;
		return 0;
	default:
		if (cmd_common_option(option))
			return 0;
		err = select_take(&options->top.engine.selection, option, optarg);
		if (err == -ENOENT)
			err = measure_take(&options->top.engine, option, optarg);
		return err;
	}
}

static int finish(int argc, char **argv, struct options *options)
{
	struct engine_options *engine = &options->top.engine;

	if (optind < argc) {
		log_error("top measures what runs, not a command ('%s'): use 'dwell run' for one",
			  argv[optind]);
		return -EINVAL;
	}
	if (!engine->selection.all && !engine->selection.count) {
		engine->selection.all = true;
		run_again_note(&engine->again, longs, SELECT_ALL, NULL);
	}
	if (engine->tier == TIER_DEFAULT)
		engine->tier = TIER_A;
	if (!engine->max_overhead)
		measure_limit(engine, GOVERNOR_RECORD_LIMIT);
	return select_finish(&engine->selection);
}

static int parse(int argc, char **argv, struct options *options)
{
	int option;

	measure_defaults(&options->top.engine);
	/* A session that is saved tells how to record one like it. */
	options->top.engine.again.command = "record";
	while ((option = getopt_long(argc, argv, "+hvqd:F:s:" SELECT_LETTERS, longs, NULL)) != -1) {
		if (take_option(options, option))
			return -EINVAL;
		if (option < OPTION_BATCH || option > OPTION_FILTER)
			run_again_note(&options->top.engine.again, longs, option, optarg);
	}
	return options->help ? 0 : finish(argc, argv, options);
}

static bool has_terminal(void)
{
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		return true;
	log_error("top needs a terminal: use 'dwell top --batch N' for text, or 'dwell record' and "
		  "'dwell report' for a session");
	return false;
}

int cmd_top(int argc, char **argv)
{
	struct options options = {0};

	if (parse(argc, argv, &options)) {
		fputs("Try 'dwell top --help'.\n", stderr);
		return EXIT_USAGE;
	}
	if (options.help) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	if (!options.top.refreshes && !has_terminal())
		return EXIT_USAGE;
	return top_run(&options.top);
}
