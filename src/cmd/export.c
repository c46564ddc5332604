// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "cmd.h"
#include "output_file.h"
#include "export_send.h"
#include "export_session.h"
#include "export_zip.h"
#include "session_options.h"

static const char usage[] =
	"Usage: dwell export -f FORMAT [OPTIONS] FILE[@FROM-TO]\n"
	"       dwell export -f perfetto -o FILE.zip FILE FILE...\n"
	"       dwell export -f otlp --to URL FILE[@FROM-TO]\n"
	"\n"
	"Write a session in the format of another tool, to stdout unless -o or --to is\n"
	"given.\n"
	"\n"
	"  FILE@10s-1m          export a part: the whole windows in it; also @1.5s-,\n"
	"                       @-500ms, @10-20 (seconds)\n"
	"  -f, --format FORMAT  write this format:\n";

static const char usage_options[] =
	"  -o, --output FILE    write to FILE; - is stdout\n"
	"  --to URL             send it to the receiver of OTLP at URL instead, such as\n"
	"                       http://127.0.0.1:4318; -f otlp sends profiles,\n"
	"                       metrics and traces\n"
	"  --kind KIND          export samples of this kind only: cpu or blocked\n"
	"  --state STATE        export this state only: cpu.user, or blocked for all\n"
	"                       states that begin so\n"
	"  -p, --pid PID        export these processes only, comma-separated\n"
	"  -t, --tid TID        export these threads only, comma-separated\n"
	"  --comm NAME          export processes with these names only; this and the next\n"
	"                       ones are comma-separated, * and ? are patterns, and where\n"
	"                       several are given, all must fit\n"
	"  --exe PATH           export these executables, by path or file name\n"
	"  --service NAME       export these services only\n"
	"  --container ID       export these containers only: ids, or beginnings\n"
	"  --pod UID            export these pods only: uids, or beginnings\n"
	"  --cgroup PATH        export these cgroups and what is below them only\n"
	"  --user USER          export processes of these users only: names or numbers\n"
	"  --kernel             export the kernel's own threads too\n"
	"  --weight UNIT        weigh stacks by ns (time) or count (samples); default:\n"
	"                       count for folded, ns for the others (pprof has both)\n"
	"  --debuginfod[=TIME]  ask the servers in DEBUGINFOD_URLS for missing symbol\n"
	"                       names, for up to TIME in all (default 10s)\n"
	"  -v, --verbose        print what the servers of --debuginfod answered, too\n"
	"  -q, --quiet          print errors only to stderr\n"
	"  -h, --help           print this text\n"
	"\n"
	"Exit status: 0 ok, 64 wrong usage, 1 failed. It needs no privilege.\n"
	"\n"
	"Examples:\n"
	"  dwell export -f svg -o flame.svg server.dwell\n"
	"  dwell export -f pprof -o server.pb.gz server.dwell\n"
	"  dwell export -f folded --kind blocked server.dwell | inferno-flamegraph\n"
	"  dwell export -f perfetto -o both.zip client.dwell server.dwell\n";

#define OTLP "otlp" /* all formats whose names begin with it and a _ */

struct options {
	struct export_request request; /* of the first session */
	bool is_family;		       /* of formats: OTLP */
	const char *output, *to;
	struct export_target target;
	struct export_request *several; /* sessions; NULL: one */
	size_t several_count;
	bool help;
};

static const struct option longs[] = {
	SESSION_OPTIONS_LONGS,
	{"format", required_argument, NULL, 'f'},
	{"output", required_argument, NULL, 'o'},
	{"to", required_argument, NULL, 'T'},
	{"weight", required_argument, NULL, 'w'},
	{0},
};

static void print_usage(void)
{
	fputs(usage, stdout);
	for (size_t i = 0; i < exporter_count; i++)
		printf("      %-13s  %s\n", exporters[i].name, exporters[i].about);
	fputs(usage_options, stdout);
}

static int parse_format(struct options *options)
{
	char names[256] = "";

	options->request.exporter = exporter_find(optarg);
	options->is_family = !strcmp(optarg, OTLP);
	if (options->request.exporter || options->is_family)
		return 0;
	for (size_t i = 0; i < exporter_count; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 i ? ", " : "", exporters[i].name);
	log_error("--format is one of %s, not '%s'", names, optarg);
	return -EINVAL;
}

static int parse_weight(struct options *options)
{
	options->request.export.weight = !strcmp(optarg, "ns") ? WEIGHT_NS : WEIGHT_COUNT;
	if (!strcmp(optarg, "ns") || !strcmp(optarg, "count"))
		return 0;
	log_error("--weight is ns or count, not '%s'", optarg);
	return -EINVAL;
}

static int parse_option(int option, struct options *options)
{
	switch (option) {
	case 'f':
		return parse_format(options);
	case 'o':
		options->output = strcmp(optarg, "-") ? optarg : NULL;
		return 0;
	case 'T':
		options->to = optarg;
		return export_target_parse(optarg, &options->target);
	case 'w':
		return parse_weight(options);
	}
	return -EINVAL;
}

/* Does what was asked for go together? */
static int check_choice(const struct options *options)
{
	const struct exporter *exporter = options->request.exporter;

	if (!exporter && !options->is_family)
		log_error("export needs a format: dwell export -f svg -o flame.svg FILE.dwell");
	else if (options->to && exporter && !exporter->post_path)
		log_error("%s is no format that is sent: --to takes -f " OTLP, exporter->name);
	else if (!options->to && options->is_family)
		log_error("-f " OTLP " is sent, with --to URL; in files it is -f otlp_profiles, "
			  "-f otlp_metrics and -f otlp_traces");
	else if (options->to && options->output)
		log_error("an export is either sent (--to) or written (-o)");
	else
		return 0;
	return -EINVAL;
}

static const char *title_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Each with its own part: FILE@FROM-TO. */
static int take_several(int argc, char **argv, struct options *options)
{
	int err = 0;

	options->several = calloc((size_t)(argc - optind), sizeof(*options->several));
	if (!options->several) {
		log_error("cannot export: out of memory");
		return -ENOMEM;
	}
	for (; !err && optind < argc; optind++) {
		struct export_request *request = &options->several[options->several_count++];
		struct session_options session = {.part = &request->part, .path = &request->path};

		*request = options->request;
		err = session_argument(optind + 1, argv, "export", "", &session);
		request->export.title = err ? NULL : title_of(request->path);
	}
	return err;
}

static int take_sessions(int argc, char **argv, struct options *options,
			 struct session_options *session)
{
	const struct exporter *exporter = options->request.exporter;
	int err;

	if (argc - optind < 2 || !exporter || !(exporter->flags & EXPORT_ZIP)) {
		err = session_argument(argc, argv, "export", "dwell export -f svg FILE.dwell",
				       session);
		if (!err)
			options->request.export.title = title_of(options->request.path);
		return err;
	}
	if (argc - optind <= EXPORT_SESSIONS_MAX && options->output)
		return take_several(argc, argv, options);
	log_error("several sessions, at most %d, go into one ZIP: name it with -o FILE.zip",
		  EXPORT_SESSIONS_MAX);
	return -EINVAL;
}

static int parse(int argc, char **argv, struct options *options)
{
	struct session_options session = {.part = &options->request.part,
					  .debuginfod = &options->request.debuginfod,
					  .path = &options->request.path};
	int option, err;

	while ((option = getopt_long(argc, argv, "f:o:" SESSION_OPTIONS_SHORTS, longs, NULL)) !=
	       -1) {
		err = session_option(option, &session);
		if (err == -ENOENT)
			err = parse_option(option, options);
		if (err)
			return -EINVAL;
	}
	options->help = session.help;
	if (options->help)
		return 0;
	err = check_choice(options);
	return err ? err : take_sessions(argc, argv, options, &session);
}

static int send_all(struct options *options)
{
	int status = EXIT_OK;

	if (!options->is_family)
		return export_send(&options->request, &options->target);
	for (size_t i = 0; status == EXIT_OK && i < exporter_count; i++) {
		options->request.exporter = &exporters[i];
		if (!strncmp(exporters[i].name, OTLP "_", sizeof(OTLP)))
			status = export_send(&options->request, &options->target);
	}
	return status;
}

/* A ZIP is written here and there: it has to be a regular file. */
static int write_zip(struct options *options)
{
	struct stat st;

	if (!fstat(STDOUT_FILENO, &st) && S_ISREG(st.st_mode))
		return export_zip(options->several, options->several_count);
	log_error("several sessions go into a regular file, and %s is none", options->output);
	return EXIT_FAILED;
}

static int run(struct options *options)
{
	_cleanup_free_ char *temporary = NULL;
	int status;

	if (options->to)
		return send_all(options);
	if (!options->output && options->request.exporter->flags & EXPORT_BINARY &&
	    isatty(STDOUT_FILENO)) {
		log_error("%s is binary, and stdout is a terminal: name a file with -o",
			  options->request.exporter->name);
		return EXIT_USAGE;
	}
	if (options->output && output_file_open(options->output, &temporary))
		return EXIT_FAILED;
	status = options->several ? write_zip(options) : export_session(&options->request);
	return temporary ? output_file_close(temporary, options->output, status) : status;
}

static void free_options(struct options *options)
{
	for (size_t i = 0; i < options->several_count; i++)
		free(options->several[i].path);
	free(options->several);
	free(options->request.path);
}

int cmd_export(int argc, char **argv)
{
	struct options options = {0};
	int status = EXIT_OK;

	if (parse(argc, argv, &options)) {
		fputs("Try 'dwell export --help'.\n", stderr);
		status = EXIT_USAGE;
	} else if (options.help) {
		print_usage();
	} else {
		status = run(&options);
	}
	free_options(&options);
	return status;
}
