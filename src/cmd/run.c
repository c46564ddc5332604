// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>

#include "../base/log.h"
#include "cmd.h"
#include "given.h"
#include "measure.h"
#include "print_session.h"
#include "../engine/target_command.h"

static const char usage[] =
	"Usage: dwell run [-o FILE] [--json] [--tier A|B] [--max-overhead PERCENT]\n"
	"                 [--warmup TIME] [--config FILE | --like FILE]\n"
	"                 [-F HZ] [--min-block TIME] [--no-stacks] [--lines] [--inline]\n"
	"                 [-s SIGNALS] [--slow TIME] [--pair-limit TIME]\n"
	"                 [--server-model MODEL] [--stacks 1/N] [--seed N]\n"
	"                 [--unwind-rows N]\n"
	"                 [--alloc-every SIZE] [--kernel[=SIZE]] [--live] [--force]\n"
	"                 [--label NAME=VALUE]... [--note TEXT] [--dry-run] [-v] [-q]\n"
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
		MEASURE_WARMUP_USAGE GIVEN_USAGE
	"  --dry-run            print the plan (hooks, fallbacks, memory, expected cost),\n"
	"                       and measure nothing\n"
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
	"Overhead: 0.3 to 0.9 us per context switch of the command; in Tier B also 0.3 us\n"
	"per system call and 0.2 us per page fault, and 20 ns per system call of other\n"
	"processes.\n"
	"\n"
	"Examples:\n"
	"  sudo dwell run -- sleep 1\n"
	"  sudo dwell run -o make.dwell --label jobs=4 -- make -j4\n"
	"  sudo dwell run --json -- ./server 2>report.json\n";

struct options {
	struct engine_options engine;
	struct given given;
	bool json, help, is_dry_run;
};

static int take_option(void *context, int option, const char *value)
{
	struct options *options = context;

	switch (option) {
	case 'j':
		options->json = true;
		return 0;
	case MEASURE_DRY_RUN:
		options->is_dry_run = true;
		return 0;
	case 'h':
		options->help = true;
		return 0;
	default:
		if (cmd_common_option(option))
			return 0;
		return measure_take(&options->engine, option, value);
	}
}

static int parse(int argc, char **argv, struct options *options)
{
	static const struct option longs[] = {
		{"json", no_argument, NULL, 'j'},
		{"warmup", required_argument, NULL, MEASURE_WARMUP},
		{"verbose", no_argument, NULL, 'v'},
		{"quiet", no_argument, NULL, 'q'},
		{"dry-run", no_argument, NULL, MEASURE_DRY_RUN},
		{"help", no_argument, NULL, 'h'},
		MEASURE_LONGS,
		GIVEN_LONGS,
		{0},
	};
	const struct given_command command = {
		.name = "run",
		.letters = "+hvq" MEASURE_LETTERS, /* "+": the command's own options are not ours */
		.longs = longs,
		.take = take_option,
		.options = options,
		.engine = &options->engine,
	};
	int err;

	measure_defaults(&options->engine);
	options->engine.again.command = command.name;
	err = given_parse(argc, argv, &command, &options->given);
	if (err || options->help)
		return err;
	if (!options->engine.command) {
		log_error("run needs a command: dwell run -- sleep 1");
		return -EINVAL;
	}
	return given_identify(&options->given, &command);
}

static void print_report(const struct engine_result *result, const struct options *options)
{
	struct report_options report = {.json = options->json, .session = options->engine.output};

	if (print_result(&report, result, stderr))
		log_error("cannot make the report; dwell run -o FILE keeps the session");
}

static int run(const struct options *options)
{
	struct engine_result result;

	engine_run(&options->engine, &result);
	if (result.is_reportable && log_level() != LOG_QUIET)
		print_report(&result, options);
	if (result.is_reportable)
		given_compare(&options->given, &result);
	files_close(&result.files, result.files_end);
	return result.status;
}

int cmd_run(int argc, char **argv)
{
	struct options options = {0};
	int err = parse(argc, argv, &options), status = EXIT_OK;

	if (err)
		status = given_status(err, "run");
	else if (options.help)
		fputs(usage, stdout);
	else if (target_find(options.engine.command[0]))
		status = EXIT_CANNOT_EXEC; /* a report would be of dwell's own attempt */
	else if (options.is_dry_run)
		status = engine_dry_run(&options.engine);
	else
		status = run(&options);
	given_free(&options.given);
	return status;
}
