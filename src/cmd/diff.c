// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../base/text.h"
#include "../base/utf8.h"
#include "cmd.h"
#include "diff_processes.h"
#include "session_options.h"
#include "write_html.h"

#define TOP_MAX 200

static const char usage[] =
	"Usage: dwell diff [OPTIONS] A[@FROM-TO] B[@FROM-TO]\n"
	"       dwell diff [OPTIONS] A... -- B...\n"
	"\n"
	"Compare sessions: what changed from A to B, by how much, and how sure that is.\n"
	"Each line is changed, unchanged or inconclusive, with the change that would have\n"
	"been found. Several runs a side show how runs differ by themselves.\n"
	"\n"
	"  FILE@10s-1m      compare a part: the whole windows in it; also @1.5s-,\n"
	"                   @-500ms, @10-20 (seconds); both sides may be of one file\n"
	"  --per WHAT       divide by a unit of work: wall (default), cpu, requests,\n"
	"                   requests:SERVER, or a count, as in syscalls:accept4 or\n"
	"                   files:open\n"
	"  --comm NAME      compare processes of these names only; this and the next ones\n"
	"                   as in dwell report\n"
	"  --exe PATH       of these executables\n"
	"  --service NAME   of these services\n"
	"  --container ID   of these containers\n"
	"  --pod UID        of these pods\n"
	"  --cgroup PATH    in these cgroups and below\n"
	"  --user USER      of these users\n"
	"  --group-by WHAT  group by comm, exe, container, pod, cgroup or user instead of\n"
	"                   by service\n"
	"  --fail-over PCT  exit with 3 if a changed line got worse by more than this\n"
	"  --force          compare even where it is not fair\n"
	"  --top N          show N rows of each table (default: by table)\n"
	"  --json           print JSON (schema dwell.diff/1) to stdout\n"
	"  --html FILE      write the comparison, and B against A, as one HTML page;\n"
	"                   - is stdout\n"
	"  --color WHEN     auto (default), always or never; NO_COLOR is honoured\n"
	"  -v, --verbose    print more to stderr\n"
	"  -q, --quiet      print errors only to stderr\n"
	"  -h, --help       print this text\n"
	"\n"
	"Exit status: 0 ok, 3 --fail-over was exceeded, 64 wrong usage, 1 failed, 77\n"
	"built without the page of --html. It needs no privilege.\n"
	"\n"
	"Examples:\n"
	"  dwell diff before.dwell after.dwell\n"
	"  dwell diff server.dwell@0-30s server.dwell@60s-90s\n"
	"  dwell diff --per syscalls:accept4 --fail-over 5% a1.dwell a2.dwell -- b*.dwell\n";

static const struct option longs[] = {
	PROCESS_KEYS(SESSION_OPTION_OF_KEY){"group-by", required_argument, NULL, 'G'},
	{"per", required_argument, NULL, 'p'},
	{"fail-over", required_argument, NULL, 'f'},
	{"force", no_argument, NULL, 'F'},
	{"top", required_argument, NULL, 'n'},
	{"json", no_argument, NULL, 'j'},
	{"color", required_argument, NULL, 'c'},
	{"verbose", no_argument, NULL, 'v'},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{"html", required_argument, NULL, 'W'},
	{0},
};

static int parse_fail_over(struct diff_command *command)
{
	char *end;
	double percent = strtod(optarg, &end);

	if (end != optarg && (!*end || !strcmp(end, "%")) && percent >= 0 && percent <= 1e6) {
		command->diff.fail_over = percent / 100;
		return 0;
	}
	log_error("--fail-over takes a share such as 5%%, not '%s'", optarg);
	return -EINVAL;
}

static int parse_top(struct diff_command *command)
{
	u64 top;

	if (text_parse_u64(optarg, 1, TOP_MAX, &top)) {
		log_error("--top takes a number from 1 to %d, not '%s'", TOP_MAX, optarg);
		return -EINVAL;
	}
	command->diff.top = (u32)top;
	return 0;
}

static int parse_group_by(struct diff_command *command)
{
	for (int key = 0; key < PROCESS_KEY_COUNT; key++)
		if (!strcmp(optarg, process_keys[key].name)) {
			command->diff.group_by = (enum process_key)key;
			return 0;
		}
	log_error("--group-by is comm, exe, service, container, pod, cgroup or user, not '%s'",
		  optarg);
	return -EINVAL;
}

static int parse_option(int option, struct diff_command *command)
{
	struct session_options shared = {.part = &command->diff.processes};

	if (option >= SESSION_OPTION_KEY)
		return session_option(option, &shared);
	switch (option) {
	case 'G':
		return parse_group_by(command);
	case 'p':
		return diff_parse_per(optarg, &command->diff.per);
	case 'f':
		return parse_fail_over(command);
	case 'F':
		command->diff.force = true;
		return 0;
	case 'n':
		return parse_top(command);
	case 'j':
		command->diff.json = true;
		return 0;
	case 'c':
		return cmd_parse_color(optarg, &command->diff.color);
	case 'W':
		command->html = optarg;
		return 0;
	case 'h':
		command->help = true;
		return 0;
	}
	return cmd_common_option(option) ? 0 : -EINVAL;
}

/* A path is any bytes; what is printed is text. */
static void name_session(struct diff_argument *argument)
{
	size_t length = strlen(argument->path), size = 3 * length + 1; /* U+FFFD has three bytes */

	argument->name = malloc(size);
	if (!argument->name) {
		log_error("cannot read %s: not enough memory", argument->path);
		exit(EXIT_FAILED);
	}
	utf8_copy(argument->name, size, argument->path, length);
}

static int add_session(struct diff_command *command, const char *text, int side)
{
	struct diff_argument *argument = &command->arguments[command->count];
	int err;

	if (command->count == DIFF_RUNS_MAX) {
		log_error("diff takes up to %d sessions", DIFF_RUNS_MAX);
		return -EINVAL;
	}
	command->count++;
	argument->side = side;
	err = session_parse(text, &argument->path, &argument->from_ns, &argument->to_ns);
	if (!err)
		name_session(argument);
	return err;
}

/* Before "--" is A, behind it B; without one, the first is A, the second B. */
static int parse_sessions(struct diff_command *command, int argc, char **argv, int separator)
{
	size_t sides[2] = {0};
	int last = separator ? separator : argc, err = 0;

	if (!separator && last - optind != 2) {
		log_error("diff takes two sessions, A and B, or several of each: "
			  "dwell diff a1.dwell a2.dwell -- b1.dwell b2.dwell");
		return -EINVAL;
	}
	for (int i = optind; !err && i < last; i++)
		err = add_session(command, argv[i], !separator && i > optind);
	for (int i = last + 1; !err && i < argc; i++)
		err = add_session(command, argv[i], 1);
	for (size_t i = 0; i < command->count; i++)
		sides[command->arguments[i].side]++;
	if (!err && (!sides[0] || !sides[1])) {
		log_error("diff needs sessions on both sides of --");
		err = -EINVAL;
	}
	return err;
}

static int parse(int argc, char **argv, struct diff_command *command)
{
	int option, separator = 0, err = cmd_parse_color("auto", &command->diff.color);

	(void)diff_parse_per("wall", &command->diff.per);
	command->diff.fail_over = -1;
	command->diff.group_by = PROCESS_KEY_SERVICE;
	for (int i = 1; i < argc && !separator; i++)
		separator = strcmp(argv[i], "--") ? 0 : i;
	while (!err &&
	       (option = getopt_long(separator ? separator : argc, argv, "hvq", longs, NULL)) != -1)
		err = parse_option(option, command);
	if (err || command->help)
		return err;
	if (command->html && (command->diff.json || command->diff.top)) {
		log_error("--html writes a page with all lines: leave out --json and --top");
		return -EINVAL;
	}
	return parse_sessions(command, argc, argv, separator);
}

static int open_page(void *context)
{
	return diff_run_processes(context);
}

/* The comparison has all runs; behind it the page shows the first of B, against the first of A. */
static int write_page(struct diff_command *command)
{
	const struct diff_argument *first[2] = {NULL, NULL};
	struct report_options report = {.part = command->diff.processes};

	if (command->diff.group_by != PROCESS_KEY_SERVICE)
		report.group_by = 1 + (u32)command->diff.group_by;
	for (size_t i = command->count; i-- > 0;)
		first[command->arguments[i].side] = &command->arguments[i];
	report.part.from_ns = first[1]->from_ns;
	report.part.to_ns = first[1]->to_ns;
	return write_html(&(struct html_page){
		.file = command->html,
		.session = first[1]->path,
		.options = &report,
		.baseline = first[0]->path,
		.baseline_from_ns = first[0]->from_ns,
		.baseline_to_ns = first[0]->to_ns,
		.open = open_page,
		.context = command,
	});
}

int cmd_diff(int argc, char **argv)
{
	static struct diff_command command;
	int status = EXIT_OK;

	if (parse(argc, argv, &command)) {
		fputs("Try 'dwell diff --help'.\n", stderr);
		status = EXIT_USAGE;
	} else if (command.help) {
		fputs(usage, stdout);
	} else {
		command.diff.columns = cmd_columns(&command.diff.whole);
		command.diff.whole &= !command.diff.columns;
		command.diff.run_count = command.count;
		status = command.html ? write_page(&command) : diff_run_processes(&command);
	}
	for (size_t i = 0; i < command.count; i++) {
		free(command.arguments[i].path);
		free(command.arguments[i].name);
	}
	return status;
}
