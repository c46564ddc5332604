// SPDX-License-Identifier: Apache-2.0
#include "../report/report.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../base/text.h"
#include "../model/signal.h"
#include "../report/groups.h"
#include "../report/requests.h"
#include "../store/reader.h"
#include "cmd.h"
#include "print_session.h"
#include "session_options.h"
#include "write_html.h"

#define ROWS_MAX 100000

static const char usage[] =
	"Usage: dwell report [OPTIONS] FILE[@FROM-TO]\n"
	"\n"
	"Read a session and report where the time of its threads went, why they waited,\n"
	"and how far the numbers can be trusted.\n"
	"\n"
	"  FILE@10s-1m    show a part: the whole windows in it; also @1.5s-, @-500ms,\n"
	"                 @10-20 (seconds)\n"
	"  -p, --pid PID  show these processes only, comma-separated\n"
	"  -t, --tid TID  show these threads only, comma-separated\n"
	"  --comm NAME    show processes with these names only; this and the next ones\n"
	"                 are comma-separated, * and ? are patterns, and where several\n"
	"                 are given, all must fit\n"
	"  --exe PATH     show processes of these executables, by path or file name\n"
	"  --service NAME show processes of these services only\n"
	"  --container ID show processes of these containers only: ids, or beginnings\n"
	"  --pod UID      show processes of these pods only: uids, or beginnings\n"
	"  --cgroup PATH  show processes in these cgroups and below them only\n"
	"  --user USER    show processes of these users only: names or numbers\n"
	"  --group-by WHAT  show where the time went by comm, exe, service, container,\n"
	"                 pod, cgroup, user or pid\n"
	"  --threads      show threads below their processes\n"
	"  --kernel       show the kernel's own threads too\n"
	"  --top N        show N rows of each table (default: by table)\n"
	"  --cpus         show use by CPU, instead of the report\n"
	"  --execs        show each exec, instead of the report\n"
	"  --stacks       show call trees, instead of the report\n"
	"  --by WHAT      show stacks by tree (default), function or module\n"
	"  --sort BY      sort functions and modules by self (default), total, or\n"
	"                 weighted: 1 as the innermost, 1/2 as its caller, 1/4, ...\n"
	"  --kind KIND    show samples of this kind only: cpu or blocked\n"
	"  --state STATE  show samples in this state only: cpu.user, or blocked for all\n"
	"                 states that begin so\n"
	"  --why STATE    explain one state: its causes, its hottest stacks, and who\n"
	"                 ended the waits\n"
	"  --signal NAMES show these signals (record -s) only, comma-separated, with more\n"
	"                 series and histograms\n"
	"  --requests     show requests (record -s requests) by endpoint: how many, how\n"
	"                 long, and in what slow ones spend more time\n"
	"  --slowest N    with --requests: show the N slowest requests one by one, too,\n"
	"                 with the calls that they made and who answered them\n"
	"  --histograms   show a histogram of each series; with --json, its buckets\n"
	"  --debuginfod[=TIME]  ask the servers in DEBUGINFOD_URLS for missing symbol\n"
	"                 names, for up to TIME in all (default 10s)\n"
	"  --json         print JSON (schema dwell.report/1) to stdout\n"
	"  --html FILE    write the report as one HTML page; - is stdout\n"
	"  --baseline FILE[@FROM-TO]  with --html: show the difference to this session\n"
	"  --color WHEN   auto (default), always or never; NO_COLOR is honoured\n"
	"  -v, --verbose  print what the servers of --debuginfod answered, too\n"
	"  -q, --quiet    print errors only to stderr\n"
	"  -h, --help     print this text\n"
	"\n"
	"Exit status: 0 ok, 64 wrong usage, 1 failed, 77 built without the page. It needs\n"
	"no privilege.\n"
	"\n"
	"Examples:\n"
	"  dwell report make.dwell\n"
	"  dwell report --html make.html make.dwell\n"
	"  dwell report server.dwell@10s-20s --pid 4711 --threads\n"
	"  dwell report --json make.dwell | jq '.processes[] | {comm, wall_ns}'\n";

struct options {
	struct report_options report;
	const char *html; /* writes this page instead; NULL: no */
	char *baseline;	  /* NULL: none; ours */
	u64 baseline_from_ns, baseline_to_ns;
	bool help;
	char *path; /* without the slice; ours */
};

static const struct option longs[] = {
	SESSION_OPTIONS_LONGS,
	{"group-by", required_argument, NULL, 'G'},
	{"threads", no_argument, NULL, 'T'},
	{"top", required_argument, NULL, 'n'},
	{"cpus", no_argument, NULL, 'C'},
	{"execs", no_argument, NULL, 'x'},
	{"stacks", no_argument, NULL, 's'},
	{"by", required_argument, NULL, 'b'},
	{"sort", required_argument, NULL, 'S'},
	{"why", required_argument, NULL, 'w'},
	{"signal", required_argument, NULL, 'g'},
	{"requests", no_argument, NULL, 'R'},
	{"slowest", required_argument, NULL, 'N'},
	{"histograms", no_argument, NULL, 'H'},
	{"json", no_argument, NULL, 'j'},
	{"html", required_argument, NULL, 'W'},
	{"baseline", required_argument, NULL, 'B'},
	{"color", required_argument, NULL, 'c'},
	{0},
};

/* The place of the word in the list, which NULL ends. */
static int parse_word(const char *option, const char *const *words, int *ret_place)
{
	char list[128] = "";

	for (int i = 0; words[i]; i++) {
		if (!strcmp(optarg, words[i])) {
			*ret_place = i;
			return 0;
		}
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "",
			 words[i]);
	}
	log_error("%s is one of %s, not '%s'", option, list, optarg);
	return -EINVAL;
}

static int parse_stacks_option(int option, struct report_options *report)
{
	static const char *const bys[] = {"tree", "function", "module", NULL};
	static const char *const sorts[] = {"self", "total", "weighted", NULL};
	int place = 0, err;

	switch (option) {
	case 'b':
		err = parse_word("--by", bys, &place);
		report->by = (enum stacks_by)place;
		report->stacks = true;
		return err;
	case 'S':
		err = parse_word("--sort", sorts, &place);
		report->sort = (enum stacks_sort)place;
		report->stacks = true;
		return err;
	case 'w':
		return cmd_parse_state("--why", optarg, &report->why);
	}
	report->stacks = true;
	return 0;
}

static int parse_group_by(u32 *ret_group_by)
{
	int place = 0, err = parse_word("--group-by", group_by_words, &place);

	*ret_group_by = 1 + (u32)place;
	return err;
}

static int parse_number(const char *option, const char *of, u64 most, u32 *ret_number)
{
	u64 number;

	if (text_parse_u64(optarg, 1, most, &number)) {
		log_error("%s takes a number of %s, 1 to %" PRIu64 ", not '%s'", option, of,
			  (uint64_t)most, optarg);
		return -EINVAL;
	}
	*ret_number = (u32)number;
	return 0;
}

static int parse_requests_option(int option, struct report_options *report)
{
	report->requests = true;
	if (option == 'R')
		return 0;
	return parse_number("--slowest", "requests", REQUESTS_SLOWEST_MAX, &report->slowest);
}

static int parse_signals(const char *list, u64 *signals)
{
	for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		size_t length = strcspn(at, ",");
		int id = signal_find(at, length);

		if (!id || !signal_rows[id].signal->view) {
			log_error("there is no signal '%.*s': dwell record -s help lists them",
				  (int)length, at);
			return -EINVAL;
		}
		*signals |= 1ULL << id;
	}
	return 0;
}

static int parse_option(int option, struct options *options)
{
	struct report_options *report = &options->report;

	switch (option) {
	case 'G':
		return parse_group_by(&report->group_by);
	case 'T':
		report->threads = true;
		return 0;
	case 's':
	case 'b':
	case 'S':
	case 'w':
		return parse_stacks_option(option, report);
	case 'n':
		return parse_number("--top", "rows", ROWS_MAX, &report->top);
	case 'C':
		report->cpus = true;
		return 0;
	case 'x':
		report->execs = true;
		return 0;
	case 'g':
		return parse_signals(optarg, &report->signals);
	case 'R':
	case 'N':
		return parse_requests_option(option, report);
	case 'H':
		report->histograms = true;
		return 0;
	case 'j':
		report->json = true;
		return 0;
	case 'W':
		options->html = optarg;
		return 0;
	case 'B':
		free(options->baseline);
		options->baseline_from_ns = options->baseline_to_ns = 0;
		return session_parse(optarg, &options->baseline, &options->baseline_from_ns,
				     &options->baseline_to_ns);
	case 'c':
		return cmd_parse_color(optarg, &report->color);
	}
	return -EINVAL;
}

/* The page has all views: none is chosen. */
static int parse_html(int argc, char **argv, const struct options *options,
		      struct session_options *session)
{
	const struct report_options *report = &options->report;

	if (!options->html) {
		log_error("--baseline goes with --html: dwell report --html FILE.html --baseline "
			  "BEFORE.dwell AFTER.dwell");
		return -EINVAL;
	}
	if (report->json || report->cpus || report->execs || report->stacks || report->why ||
	    report->signals || report->histograms || report->requests || report->threads ||
	    report->top) {
		log_error("--html writes a page with all views: leave out the options that choose "
			  "one");
		return -EINVAL;
	}
	return session_argument(argc, argv, "report", "dwell report --html FILE.html FILE.dwell",
				session);
}

static int parse(int argc, char **argv, struct options *options)
{
	struct session_options session = {.part = &options->report.part,
					  .debuginfod = &options->report.debuginfod,
					  .path = &options->path};
	int option;

	cmd_parse_color("auto", &options->report.color);
	while ((option = getopt_long(argc, argv, SESSION_OPTIONS_SHORTS, longs, NULL)) != -1) {
		int err = session_option(option, &session);

		if (err == -ENOENT)
			err = parse_option(option, options);
		if (err)
			return -EINVAL;
	}
	options->help = session.help;
	if (options->help)
		return 0;
	if (options->html || options->baseline)
		return parse_html(argc, argv, options, &session);
	if (options->report.part.one_kind || options->report.part.state)
		options->report.stacks = true;
	if (options->report.signals && (options->report.why || options->report.stacks)) {
		log_error("--signal shows signals by themselves: leave out --why, --stacks, and "
			  "what goes with them");
		return -EINVAL;
	}
	if (options->report.why && options->report.stacks) {
		log_error("--why opens one state by itself: leave out --stacks, and what goes "
			  "with it");
		return -EINVAL;
	}
	return session_argument(argc, argv, "report", "dwell report FILE.dwell", &session);
}

static int read_session(struct options *options)
{
	_cleanup_close_ int db_fd = -1, wal_fd = -1;

	if (options->html)
		return write_html(&(struct html_page){
			.file = options->html,
			.session = options->path,
			.options = &options->report,
			.baseline = options->baseline,
			.baseline_from_ns = options->baseline_from_ns,
			.baseline_to_ns = options->baseline_to_ns,
		});
	if (session_open_files(options->path, &db_fd, &wal_fd))
		return EXIT_FAILED;
	return print_session(&options->report, options->path, db_fd, wal_fd, stdout);
}

int cmd_report(int argc, char **argv)
{
	struct options options = {0};
	int status;

	if (parse(argc, argv, &options)) {
		fputs("Try 'dwell report --help'.\n", stderr);
		status = EXIT_USAGE;
	} else if (options.help) {
		fputs(usage, stdout);
		status = EXIT_OK;
	} else {
		options.report.columns = cmd_columns(&options.report.whole);
		options.report.session = options.path;
		status = read_session(&options);
	}
	free(options.path);
	free(options.baseline);
	return status;
}
