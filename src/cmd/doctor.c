// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/log.h"
#include "../doctor/doctor.h"
#include "cmd.h"
#include "doctor_session.h"

static const char usage[] =
	"Usage: dwell doctor [--host] [--no-signals] [--json] [--color WHEN] [-v] [-q]\n"
	"       dwell doctor [--json] [--color WHEN] [-q] FILE\n"
	"\n"
	"Test every kind of hook that dwell can use, in four steps: check the\n"
	"environment, load a program, attach it, and receive one record. For each that\n"
	"fails, print what dwell loses, why, and how to fix it. Then load and attach the\n"
	"hooks of each signal of dwell record -s, and print its cost.\n"
	"\n"
	"With FILE, check a session instead: is it fit to conclude from? Losses, silent\n"
	"hooks, coverage, overhead, stolen time, incomplete stacks, missing names, number\n"
	"of samples, and whether even and odd windows have the same top functions.\n"
	"\n"
	"  --host         check also whether this host is ready for measurements\n"
	"  --no-signals   skip the signals, which take two thirds of the time\n"
	"  --json         print JSON (schema dwell.doctor/1; of FILE:\n"
	"                 dwell.doctor-session/1) to stdout\n"
	"  --color WHEN   auto (default), always or never; NO_COLOR is honoured\n"
	"  -v, --verbose  print all messages of the kernel and libbpf, too\n"
	"  -q, --quiet    print the verdict only, and no progress\n"
	"  -h, --help     print this text\n"
	"\n"
	"Exit status: 0 dwell works here, 77 it cannot, 64 wrong usage, 1 failed. Of\n"
	"FILE: 0 fit, or fit with limits; 1 not fit, or failed.\n"
	"Overhead: 4 to 10 seconds, half of them on a CPU; nothing stays attached.\n"
	"\n"
	"Examples:\n"
	"  sudo dwell doctor\n"
	"  dwell doctor server.dwell\n"
	"  sudo dwell doctor --json | jq '.features[] | select(.status != \"ok\")'\n";

struct options {
	bool host, no_signals, json, help, color;
	const char *session; /* NULL: the host is looked at */
};

static int parse(int argc, char **argv, struct options *options)
{
	static const struct option longs[] = {
		{"host", no_argument, NULL, 'H'},    {"no-signals", no_argument, NULL, 'S'},
		{"json", no_argument, NULL, 'j'},    {"color", required_argument, NULL, 'c'},
		{"verbose", no_argument, NULL, 'v'}, {"quiet", no_argument, NULL, 'q'},
		{"help", no_argument, NULL, 'h'},    {0},
	};
	int option;

	cmd_parse_color("auto", &options->color);
	while ((option = getopt_long(argc, argv, "hvq", longs, NULL)) != -1) {
		switch (option) {
		case 'H':
			options->host = true;
			break;
		case 'S':
			options->no_signals = true;
			break;
		case 'j':
			options->json = true;
			break;
		case 'c':
			if (cmd_parse_color(optarg, &options->color))
				return -EINVAL;
			break;
		case 'h':
			options->help = true;
			break;
		default:
			if (!cmd_common_option(option))
				return -EINVAL;
		}
	}
	if (argc - optind > 1) {
		log_error("doctor takes one session, but got '%s' too", argv[optind + 1]);
		return -EINVAL;
	}
	options->session = argv[optind];
	if (options->session && (options->host || options->no_signals)) {
		log_error("--host and --no-signals are about this host: leave them out, or the "
			  "session '%s'",
			  options->session);
		return -EINVAL;
	}
	return 0;
}

/* The kernel detaches everything when we end; it is only said. */
static void on_interrupt(int number)
{
	static const char said[] = "\r\033[Kdwell: interrupted; nothing stays attached\n";

	if (write(STDERR_FILENO, said, sizeof(said) - 1) < 0)
		number = 0;
	_exit(128 + number);
}

static void show_progress(const char *feature)
{
	fprintf(stderr, "\r\033[Ktrying %s …", feature);
}

static void hide_progress(void)
{
	fputs("\r\033[K", stderr);
}

int cmd_doctor(int argc, char **argv)
{
	bool progress = isatty(STDERR_FILENO);
	struct options options = {0};
	struct doctor_report report;
	int status = EXIT_OK;

	if (parse(argc, argv, &options)) {
		fputs("Try 'dwell doctor --help'.\n", stderr);
		return EXIT_USAGE;
	}
	if (options.help) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	if (options.session)
		return doctor_session(options.session, options.json, options.color);
	progress = progress && log_level() == LOG_NORMAL;
	if (progress)
		signal(SIGINT, on_interrupt);
	if (doctor_run(options.host, !options.no_signals, progress ? show_progress : NULL, &report))
		return EXIT_FAILED;
	if (progress)
		hide_progress();
	if (options.json)
		status = cmd_print_json(doctor_to_json(&report));
	else
		doctor_print_text(&report, options.color, log_level() == LOG_QUIET, stdout);
	if (status == EXIT_OK && !report.core_works)
		status = EXIT_UNSUPPORTED;
	doctor_report_free(&report);
	return status;
}
