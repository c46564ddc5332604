// SPDX-License-Identifier: Apache-2.0
#include "../diff/diff.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../base/text.h"
#include "../diff/transfer.h"
#include "../page/page.h"
#include "../store/reader.h"
#include "cmd.h"
#include "reader_process.h"
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
	"  --per WHAT       divide by a unit of work: wall (default), cpu, or a count, as\n"
	"                   in syscalls:accept4 or files:open\n"
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

struct argument {
	char *path; /* ours */
	u64 from_ns, to_ns;
	int side;
};

struct options {
	struct diff_options diff;
	struct argument arguments[DIFF_RUNS_MAX];
	size_t count;
	int fds[2 * DIFF_RUNS_MAX + 1]; /* the last one of those that are there is the pipe */
	const char *html;		/* writes this page; NULL: no */
	bool help;
};

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

static int parse_fail_over(struct options *options)
{
	char *end;
	double percent = strtod(optarg, &end);

	if (end != optarg && (!*end || !strcmp(end, "%")) && percent >= 0 && percent <= 1e6) {
		options->diff.fail_over = percent / 100;
		return 0;
	}
	log_error("--fail-over takes a share such as 5%%, not '%s'", optarg);
	return -EINVAL;
}

static int parse_top(struct options *options)
{
	u64 top;

	if (text_parse_u64(optarg, 1, TOP_MAX, &top)) {
		log_error("--top takes a number from 1 to %d, not '%s'", TOP_MAX, optarg);
		return -EINVAL;
	}
	options->diff.top = (u32)top;
	return 0;
}

static int parse_group_by(struct options *options)
{
	for (int key = 0; key < PROCESS_KEY_COUNT; key++)
		if (!strcmp(optarg, process_keys[key].name)) {
			options->diff.group_by = (enum process_key)key;
			return 0;
		}
	log_error("--group-by is comm, exe, service, container, pod, cgroup or user, not '%s'",
		  optarg);
	return -EINVAL;
}

static int parse_option(int option, struct options *options)
{
	struct session_options shared = {.part = &options->diff.processes};

	if (option >= SESSION_OPTION_KEY)
		return session_option(option, &shared);
	switch (option) {
	case 'G':
		return parse_group_by(options);
	case 'p':
		return diff_parse_per(optarg, &options->diff.per);
	case 'f':
		return parse_fail_over(options);
	case 'F':
		options->diff.force = true;
		return 0;
	case 'n':
		return parse_top(options);
	case 'j':
		options->diff.json = true;
		return 0;
	case 'c':
		return cmd_parse_color(optarg, &options->diff.color);
	case 'W':
		options->html = optarg;
		return 0;
	case 'h':
		options->help = true;
		return 0;
	}
	return cmd_common_option(option) ? 0 : -EINVAL;
}

static int add_session(struct options *options, const char *text, int side)
{
	struct argument *argument = &options->arguments[options->count];

	if (options->count == DIFF_RUNS_MAX) {
		log_error("diff takes up to %d sessions", DIFF_RUNS_MAX);
		return -EINVAL;
	}
	options->count++;
	argument->side = side;
	return session_parse(text, &argument->path, &argument->from_ns, &argument->to_ns);
}

/* Before "--" is A, behind it B; without one, the first is A, the second B. */
static int parse_sessions(struct options *options, int argc, char **argv, int separator)
{
	size_t sides[2] = {0};
	int last = separator ? separator : argc, err = 0;

	if (!separator && last - optind != 2) {
		log_error("diff takes two sessions, A and B, or several of each: "
			  "dwell diff a1.dwell a2.dwell -- b1.dwell b2.dwell");
		return -EINVAL;
	}
	for (int i = optind; !err && i < last; i++)
		err = add_session(options, argv[i], !separator && i > optind);
	for (int i = last + 1; !err && i < argc; i++)
		err = add_session(options, argv[i], 1);
	for (size_t i = 0; i < options->count; i++)
		sides[options->arguments[i].side]++;
	if (!err && (!sides[0] || !sides[1])) {
		log_error("diff needs sessions on both sides of --");
		err = -EINVAL;
	}
	return err;
}

static int parse(int argc, char **argv, struct options *options)
{
	int option, separator = 0, err = cmd_parse_color("auto", &options->diff.color);

	(void)diff_parse_per("wall", &options->diff.per);
	options->diff.fail_over = -1;
	options->diff.group_by = PROCESS_KEY_SERVICE;
	for (int i = 1; i < argc && !separator; i++)
		separator = strcmp(argv[i], "--") ? 0 : i;
	while (!err &&
	       (option = getopt_long(separator ? separator : argc, argv, "hvq", longs, NULL)) != -1)
		err = parse_option(option, options);
	if (err || options->help)
		return err;
	if (options->html && (options->diff.json || options->diff.top)) {
		log_error("--html writes a page with all lines: leave out --json and --top");
		return -EINVAL;
	}
	return parse_sessions(options, argc, argv, separator);
}

/* --- in processes without privileges: one reads B, the other one reads A, and judges --- */

#define BOTH_SIDES  (-1)
#define EXIT_UNTOLD 75 /* of one of them: failed, and the other one, or the parent, tells why */

/* One step over the sessions of a side, or of both: 0 or -errno, told. */
static int read_all(const struct options *options, struct diff *diff, bool is_survey, int side)
{
	int err = 0;

	for (size_t i = 0; !err && i < options->count; i++) {
		const struct argument *argument = &options->arguments[i];
		struct session *session;

		if (side != BOTH_SIDES && argument->side != side)
			continue;
		err = session_open_fds(options->fds[2 * i], options->fds[2 * i + 1], argument->path,
				       &session);
		if (err)
			return err;
		if (is_survey)
			err = diff_survey(diff, session_db(session), argument->side,
					  argument->path);
		else
			err = diff_read(diff, session_db(session), argument->side, argument->path,
					argument->from_ns, argument->to_ns);
		session_close(session);
	}
	return err;
}

/*
 * What one side is compared by depends on both: each process looks at all sessions first. What is
 * wrong with them, both find: who reads A tells it.
 */
static int read_side(const struct options *options, struct diff *diff, int side)
{
	enum log_level level = log_level();
	int err = diff_init(diff, &options->diff);

	if (side == 1)
		log_set_level(LOG_SILENT);
	if (!err)
		err = read_all(options, diff, true, BOTH_SIDES);
	if (!err)
		err = diff_choose(diff);
	log_set_level(level);
	if (err)
		return side == 1 ? EXIT_UNTOLD : EXIT_FAILED;
	return read_all(options, diff, false, side) ? EXIT_FAILED : EXIT_OK;
}

static int pipe_of(const struct options *options)
{
	return options->fds[2 * options->count];
}

static int send_other_side(const void *context)
{
	const struct options *options = context;
	static struct diff diff;
	FILE *to = fdopen(pipe_of(options), "w");
	int status = to ? read_side(options, &diff, 1) : EXIT_UNTOLD;

	if (status == EXIT_OK)
		diff_send(&diff, to);
	if (to && (ferror(to) | fclose(to)) && status == EXIT_OK)
		status = EXIT_UNTOLD;
	diff_free(&diff);
	return status;
}

/* EXIT_OK, or EXIT_UNTOLD: who sent it has failed, or there is no memory. */
static int receive_other_side(const struct options *options, struct diff *diff)
{
	const char *names[DIFF_RUNS_MAX];
	FILE *from = fdopen(pipe_of(options), "r");
	size_t count = 0;
	int err;

	for (size_t i = 0; i < options->count; i++)
		if (options->arguments[i].side == 1)
			names[count++] = options->arguments[i].path;
	err = from ? diff_receive(diff, from, 1, names, count) : -ENOMEM;
	if (from)
		fclose(from);
	return err ? EXIT_UNTOLD : EXIT_OK;
}

static void tell_refusal(const struct diff *diff)
{
	for (size_t i = 0; i < diff->warning_count; i++)
		if (diff->warnings[i].is_refusal)
			log_error("the comparison is not fair: %s", diff->warnings[i].text);
	log_error("record both alike, or use --force");
}

static int compare(const void *context)
{
	const struct options *options = context;
	static struct diff diff;
	int status = read_side(options, &diff, 0), err;

	if (status == EXIT_OK)
		status = receive_other_side(options, &diff);
	if (status != EXIT_OK) {
		diff_free(&diff);
		return status;
	}
	err = diff_judge(&diff);
	if (err == -EPERM && diff.is_refused)
		tell_refusal(&diff);
	if (!err) {
		err = options->html	   ? html_page_open(&diff, stdout)
		      : options->diff.json ? diff_print_json(&diff, stdout)
					   : diff_print_text(&diff, stdout);
		if (err == -ENOMEM)
			log_error("not enough memory to print the comparison");
	}
	status = err ? EXIT_FAILED : diff.worse ? EXIT_OVER : EXIT_OK;
	if (!err && diff.worse)
		log_info("%zu changed line%s got worse by more than %g %%", diff.worse,
			 diff.worse == 1 ? "" : "s", 100 * diff.options.fail_over);
	diff_free(&diff);
	return status;
}

/* Starts who reads B, then runs who reads A and judges. */
static int run_processes(struct options *options)
{
	size_t fd_count = 2 * options->count + 1;
	struct reader_process other;
	int ends[2], status, other_status;

	if (pipe2(ends, O_CLOEXEC)) {
		log_error("cannot make a pipe between two processes: %s; see ulimit -n",
			  strerror(errno));
		return EXIT_FAILED;
	}
	options->fds[fd_count - 1] = ends[1];
	status = reader_process_start_all(&other, send_other_side, options, options->fds, fd_count);
	close(ends[1]);
	if (status != EXIT_OK) {
		close(ends[0]);
		return status;
	}
	options->fds[fd_count - 1] = ends[0];
	status = reader_process_run_all(compare, options, options->fds, fd_count);
	close(ends[0]); /* nobody reads: who still writes ends */
	other_status = reader_process_wait(&other);
	/* Both looked at the same sessions: that only one of them failed is for want of memory. */
	if (status == EXIT_UNTOLD && other_status != EXIT_FAILED)
		log_error("not enough memory to compare: take parts of the sessions, as "
			  "FILE@10s-20s");
	return status == EXIT_UNTOLD || other_status != EXIT_OK ? EXIT_FAILED : status;
}

static int run(struct options *options)
{
	int status = EXIT_OK;

	for (size_t i = 0; i < ARRAY_SIZE(options->fds); i++)
		options->fds[i] = -1;
	for (size_t i = 0; status == EXIT_OK && i < options->count; i++)
		if (session_open_files(options->arguments[i].path, &options->fds[2 * i],
				       &options->fds[2 * i + 1]))
			status = EXIT_FAILED;
	if (status == EXIT_OK)
		status = run_processes(options);
	for (size_t i = 0; i < 2 * options->count; i++)
		if (options->fds[i] >= 0)
			close(options->fds[i]);
	return status;
}

static int open_page(void *context)
{
	return run(context);
}

/* The comparison has all runs; behind it the page shows the first of B, against the first of A. */
static int write_page(struct options *options)
{
	const struct argument *first[2] = {NULL, NULL};
	struct report_options report = {.part = options->diff.processes};

	if (options->diff.group_by != PROCESS_KEY_SERVICE)
		report.group_by = 1 + (u32)options->diff.group_by;
	for (size_t i = options->count; i-- > 0;)
		first[options->arguments[i].side] = &options->arguments[i];
	report.part.from_ns = first[1]->from_ns;
	report.part.to_ns = first[1]->to_ns;
	return write_html(&(struct html_page){
		.file = options->html,
		.session = first[1]->path,
		.options = &report,
		.baseline = first[0]->path,
		.baseline_from_ns = first[0]->from_ns,
		.baseline_to_ns = first[0]->to_ns,
		.open = open_page,
		.context = options,
	});
}

int cmd_diff(int argc, char **argv)
{
	static struct options options;
	int status = EXIT_OK;

	if (parse(argc, argv, &options)) {
		fputs("Try 'dwell diff --help'.\n", stderr);
		status = EXIT_USAGE;
	} else if (options.help) {
		fputs(usage, stdout);
	} else {
		options.diff.columns = cmd_columns(&options.diff.whole);
		options.diff.whole &= !options.diff.columns;
		options.diff.run_count = options.count;
		status = options.html ? write_page(&options) : run(&options);
	}
	for (size_t i = 0; i < options.count; i++)
		free(options.arguments[i].path);
	return status;
}
