// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "../base/log.h"
#include "cmd.h"
#include "measure.h"
#include "record_options.h"

static const char usage[] =
	"Usage: dwell record [-o FILE] [-d TIME] [-a | -p PIDS | ...] [--tier A|B]\n"
	"                    [--rotate TIME [--keep N]] [--warmup TIME]\n"
	"                    [--config FILE | --like FILE]\n"
	"                    [--max-overhead PERCENT] [-F HZ] [--min-block TIME]\n"
	"                    [--no-stacks] [--lines] [--inline] [--seed N]\n"
	"                    [-s SIGNALS] [--slow TIME] [--pair-limit TIME]\n"
	"                    [--server-model MODEL] [--stacks 1/N] [--unwind-rows N]\n"
	"                    [--alloc-every SIZE] [--kernel[=SIZE]] [--live] [--force]\n"
	"                    [--label NAME=VALUE]... [--note TEXT] [--dry-run] [-v] [-q]\n"
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
	"1h\n"
	"  --rotate TIME        begin a new file after each TIME, without a gap:\n"
	"                       FILE.0001.dwell, FILE.0002.dwell, ...; at least 1s\n"
	"  --keep N             with --rotate: keep the newest N files of this recording,\n"
	"                       the one being written included; at least 2 (default: "
	"all)\n" SELECT_USAGE
	"  --tier A|B           A: hook the scheduler only (default without a command);\n"
	"                       B: hook system calls and page faults too\n"
	"  --max-overhead PCT   limit dwell's own cost to PCT of the host's CPU time\n"
	"                       (default 5%; with a command: no limit): above it, thin\n"
	"                       rates first, then switch parts off; restore all of it\n"
	"                       when the cost drops\n" MEASURE_SIGNALS_USAGE MEASURE_STACKS_USAGE
		MEASURE_WARMUP_USAGE GIVEN_USAGE
	"  --dry-run            print the plan (hooks, fallbacks, memory, expected cost),\n"
	"                       and measure nothing\n"
	"  --label NAME=VALUE   store a parameter of the workload in the session\n"
	"  --note TEXT          store a sentence in the session\n"
	"  -v, --verbose        print messages of libbpf and the kernel too\n"
	"  -q, --quiet          print no progress\n"
	"  -h, --help           print this text\n"
	"\n"
	"Exit status: that of the command, if there is one; else 0, 1 if the session is\n"
	"not complete, 77 if this host cannot run dwell, 64 for wrong usage.\n"
	"Overhead: 0.3 to 0.9 us per context switch of a measured thread; with --tier B\n"
	"also 0.3 us per system call and 0.2 us per page fault.\n"
	"\n"
	"Examples:\n"
	"  sudo dwell record -a -d 10\n"
	"  sudo dwell record -p 812 -o db.dwell --label clients=50\n"
	"  sudo dwell record -o build.dwell -- make -j4\n"
	"  sudo dwell record -a -d 10 -s block,runq --slow 20ms\n"
	"  sudo dwell record -a -o flight.dwell --rotate 60s --keep 30\n"
	"  sudo dwell record --like before.dwell -o after.dwell\n";

static void name_output(struct record_options *options)
{
	time_t now = time(NULL);
	struct tm local;

	if (options->engine.output)
		return;
	localtime_r(&now, &local);
	strftime(options->output, sizeof(options->output), "dwell-%Y%m%d-%H%M%S.dwell", &local);
	options->engine.output = options->output;
}

static void tell_result(const struct engine_result *result, const char *path)
{
	log_info("%.1f s in %llu window%s, %.1f MB: 'dwell report %s' shows it%s",
		 (double)result->wall_ns / 1e9, (unsigned long long)result->windows,
		 result->windows == 1 ? "" : "s", (double)result->file_bytes / 1e6, path,
		 result->is_complete ? "" : "; it is not complete");
}

/* Those that are there still, but for what somebody else did with them. */
static void tell_kept(const struct rotation *rotation, const char *output, char *to, size_t size)
{
	u64 kept = rotation->made - rotation->removed - rotation->missing;
	char first[PATH_MAX], last[PATH_MAX];

	rotation_name(output, rotation->number - kept + 1, first, sizeof(first));
	rotation_name(output, rotation->number, last, sizeof(last));
	/* Where one in between is missing, or an old one stayed, there is no range to name. */
	if (kept > 1 && !rotation->missing && !rotation->not_removed)
		snprintf(to, size, "%s to %s are kept", first, last);
	else
		snprintf(to, size, "%llu %s kept, the last is %s", (unsigned long long)kept,
			 kept == 1 ? "is" : "are", last);
}

static void tell_files(const struct engine_result *result, const char *output)
{
	const struct rotation *rotation = &result->rotation;
	char kept[2 * PATH_MAX + 32];

	tell_kept(rotation, output, kept, sizeof(kept));
	log_info("%.1f s in %llu window%s, %llu file%s: %s, %llu %s removed%s; 'dwell report FILE' "
		 "shows one",
		 (double)result->wall_ns / 1e9, (unsigned long long)result->windows,
		 result->windows == 1 ? "" : "s", (unsigned long long)rotation->made,
		 rotation->made == 1 ? "" : "s", kept, (unsigned long long)rotation->removed,
		 rotation->removed == 1 ? "is" : "are",
		 result->is_complete ? "" : "; not all are complete");
	log_verbose("from one file to the next: %.1f ms at most, and %.1f ms to complete the old "
		    "one",
		    (double)rotation->longest_ns / 1e6, (double)rotation->longest_end_ns / 1e6);
}

static int record(struct record_options *options)
{
	struct engine_result result;

	name_output(options);
	options->engine.show_progress = isatty(STDERR_FILENO) && log_level() == LOG_NORMAL;
	engine_run(&options->engine, &result);
	if (result.is_reportable && options->engine.rotate_ns)
		tell_files(&result, options->engine.output);
	else if (result.is_reportable && !result.misplaced)
		tell_result(&result, options->engine.output);
	if (result.is_reportable)
		given_compare(&options->given, &result);
	files_close(&result.files, result.files_end);
	return result.status;
}

int cmd_record(int argc, char **argv)
{
	struct record_options options = {0};
	int err = record_parse(argc, argv, &options), status = EXIT_OK;

	if (err)
		status = given_status(err, "record");
	else if (options.help)
		fputs(usage, stdout);
	else if (options.is_dry_run)
		status = engine_dry_run(&options.engine);
	else
		status = record(&options);
	given_free(&options.given);
	return status;
}
