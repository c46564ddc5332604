// SPDX-License-Identifier: Apache-2.0
#include "../export/export.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../base/person.h"
#include "../base/text.h"
#include "../store/process_filter.h"
#include "../store/profile_reader.h"
#include "../store/reader.h"
#include "reader_process.h"
#include "cmd.h"
#include "session_options.h"

static const char usage[] =
	"Usage: dwell export -f FORMAT [OPTIONS] FILE[@FROM-TO]\n"
	"\n"
	"Write the stacks of a session in the format of another tool, to stdout unless\n"
	"-o is given.\n"
	"\n"
	"  FILE@10s-1m          export a part: the whole windows in it; also @1.5s-,\n"
	"                       @-500ms, @10-20 (seconds)\n"
	"  -f, --format FORMAT  write this format:\n";

static const char usage_options[] =
	"  -o, --output FILE    write to FILE; - is stdout\n"
	"  --kind KIND          export samples of this kind only: cpu or blocked\n"
	"  --state STATE        export samples in this state only: cpu.user, or blocked\n"
	"                       for all states that begin so\n"
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
	"  dwell export -f folded --kind blocked server.dwell | inferno-flamegraph\n";

struct options {
	const struct exporter *exporter;
	struct export_options export;
	struct profile_filter filter;
	struct session_part part;
	char *path; /* without the part; ours */
	const char *output;
	struct windows windows; /* the part */
	struct fetch_request debuginfod;
	bool help;
};

static const struct option longs[] = {
	SESSION_OPTIONS_LONGS,
	{"format", required_argument, NULL, 'f'},
	{"output", required_argument, NULL, 'o'},
	{"weight", required_argument, NULL, 'w'},
	{0},
};

static void print_usage(void)
{
	fputs(usage, stdout);
	for (size_t i = 0; i < exporter_count; i++)
		printf("      %-10s  %s\n", exporters[i].name, exporters[i].about);
	fputs(usage_options, stdout);
}

static int parse_format(struct options *options)
{
	char names[128] = "";

	options->exporter = exporter_find(optarg);
	if (options->exporter)
		return 0;
	for (size_t i = 0; i < exporter_count; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 i ? ", " : "", exporters[i].name);
	log_error("--format is one of %s, not '%s'", names, optarg);
	return -EINVAL;
}

static int parse_weight(struct options *options)
{
	options->export.weight = !strcmp(optarg, "ns") ? WEIGHT_NS : WEIGHT_COUNT;
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
	case 'w':
		return parse_weight(options);
	}
	return -EINVAL;
}

/* What was asked for, as readers of stacks and of windows want it. */
static void take_part(struct options *options)
{
	options->filter = profile_filter_of(&options->part);
	options->filter.windows = &options->windows;
	if (!options->debuginfod.limit_ms)
		return;
	options->filter.name_frames = fetched_names;
	options->filter.name_request = &options->debuginfod;
}

static int parse(int argc, char **argv, struct options *options)
{
	struct session_options session = {
		.part = &options->part, .debuginfod = &options->debuginfod, .path = &options->path};
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
	if (!options->exporter) {
		log_error("export needs a format: dwell export -f svg -o flame.svg FILE.dwell");
		return -EINVAL;
	}
	err = session_argument(argc, argv, "export", "dwell export -f svg FILE.dwell", &session);
	take_part(options);
	return err;
}

struct reading {
	struct options *options;
	int db_fd, wal_fd;
};

/*
 * Times of both kinds in one sum would say nothing: what is on a CPU is what people expect. Found
 * out first, without names, as those may have to be fetched.
 */
static int choose_kind(sqlite3 *db, struct options *options)
{
	struct profile_filter filter = options->filter;
	struct profile profile;
	u64 blocked = 0;
	int err;

	filter.name_frames = NULL;
	err = profile_read(db, &filter, &profile);
	if (err)
		return err;
	for (size_t i = 0; i < profile.samples.count; i++) {
		const struct profile_sample *sample = hash_item(&profile.samples, i);

		blocked += sample->kind != SAMPLE_CPU ? sample->count : 0;
	}
	if (blocked && blocked != profile.all.count) {
		options->filter.one_kind = true;
		options->filter.kind = SAMPLE_CPU;
		log_info("%s cannot distinguish CPU samples from blocked ones: %" PRIu64
			 " blocked samples are left out; use --kind blocked for them",
			 options->exporter->name, (uint64_t)blocked);
	}
	profile_free(&profile);
	return 0;
}

static void tell_what_is_missing(const struct options *options, const struct profile *profile)
{
	if (!profile->all.count)
		log_info("the session has no samples of what was asked for%s",
			 profile->kernel.count ? ": only of the kernel's own threads (--kernel)"
					       : "");
	if (profile->no_room.count || profile->stacks_no_room || profile->frames_no_room)
		log_info("too many for %s: %" PRIu64 " samples, %" PRIu64 " stacks and %" PRIu64
			 " frames are left out; take fewer with --pid or --state",
			 options->exporter->name, (uint64_t)profile->no_room.count,
			 (uint64_t)profile->stacks_no_room, (uint64_t)profile->frames_no_room);
}

static int export_session(const void *context)
{
	const struct reading *reading = context;
	struct options *options = reading->options;
	struct session *session;
	struct profile profile;
	int err = session_open_fds(reading->db_fd, reading->wal_fd, options->path, &session);

	if (err)
		return EXIT_FAILED;
	err = windows_of_part(session_db(session), &options->part, &options->windows);
	if (!err)
		err = process_filter_read(session_db(session), &options->part);
	options->filter.chosen = options->part.chosen;
	if (!err && options->exporter->is_of_one_kind && !options->filter.one_kind)
		err = choose_kind(session_db(session), options);
	if (!err)
		err = profile_read(session_db(session), &options->filter, &profile);
	if (!err) {
		if (options->windows.is_slice)
			profile.duration_ns = options->windows.end_ns - options->windows.begin_ns;
		tell_what_is_missing(options, &profile);
		err = options->exporter->write(&profile, &options->export, stdout);
		if (err)
			log_error("cannot export: %s; take fewer samples with --pid or --state",
				  strerror(-err));
		profile_free(&profile);
	}
	process_filter_free(&options->part);
	session_close(session);
	return err ? EXIT_FAILED : EXIT_OK;
}

/*
 * A device, a pipe, or a link such as /dev/stdout. Another user's link could lead to any file of
 * the caller's, so it is not followed; nor is a regular file at its end that is somebody else's.
 */
static int open_other(const char *path, const struct stat *there, const struct person *person)
{
	bool is_link = S_ISLNK(there->st_mode);
	struct stat st;
	int fd;

	if (is_link && there->st_uid != 0 && !person_is_owner(person, there->st_uid))
		return -ELOOP;
	fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | (is_link ? 0 : O_NOFOLLOW));
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) ||
	    (S_ISREG(st.st_mode) && (!person_is_owner(person, st.st_uid) || ftruncate(fd, 0)))) {
		close(fd);
		return -EACCES;
	}
	return fd;
}

static const char *output_refusal(int err)
{
	if (err == -ELOOP)
		return "it is a symbolic link of another user";
	if (err == -EEXIST)
		return "it belongs to another user";
	return strerror(-err);
}

/*
 * A plain file is complete or not there: it has a name beside its own until all is written. What is
 * no plain file, such as a device, is written into. *ret_temporary is NULL then.
 */
static int open_file(const char *path, const struct person *person, char **ret_temporary)
{
	struct stat st;
	int fd;

	if (!lstat(path, &st)) {
		if (!S_ISREG(st.st_mode))
			return open_other(path, &st, person);
		if (!person_is_owner(person, st.st_uid))
			return -EEXIST;
	}
	if (asprintf(ret_temporary, "%s.XXXXXX", path) < 0) {
		*ret_temporary = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(*ret_temporary, O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Opened as whoever asks; it is stdout of the process without privileges that reads the session. */
static int open_output(const char *path, char **ret_temporary)
{
	struct person person;
	int fd, err;

	person_find(&person);
	err = person_begin(&person);
	if (err)
		return err;
	fd = open_file(path, &person, ret_temporary);
	person_end(&person);
	if (fd < 0)
		return fd;
	err = dup2(fd, STDOUT_FILENO) < 0 ? -errno : 0;
	close(fd);
	cmd_stdout_is(path);
	return err;
}

static int close_output(const char *temporary, const char *path, int status)
{
	struct person person;
	int err;

	person_find(&person);
	err = person_begin(&person);
	if (!err && status == EXIT_OK && rename(temporary, path))
		err = -errno;
	if (err || status != EXIT_OK)
		unlink(temporary);
	person_end(&person);
	if (!err)
		return status;
	log_error("cannot write %s: %s", path, strerror(-err));
	return EXIT_FAILED;
}

static int run(struct options *options)
{
	_cleanup_close_ int db_fd = -1, wal_fd = -1;
	_cleanup_free_ char *temporary = NULL;
	int err, status;

	if (session_open_files(options->path, &db_fd, &wal_fd))
		return EXIT_FAILED;
	if (!options->output && options->exporter->write == export_pprof && isatty(STDOUT_FILENO)) {
		log_error("pprof is binary, and stdout is a terminal: name a file with -o");
		return EXIT_USAGE;
	}
	err = options->output ? open_output(options->output, &temporary) : 0;
	if (err) {
		log_error("cannot write %s: %s; name a file in a folder that is yours with -o",
			  options->output, output_refusal(err));
		return EXIT_FAILED;
	}
	status = reader_process_run(export_session, &(struct reading){options, db_fd, wal_fd},
				    db_fd, wal_fd, &options->debuginfod);
	return temporary ? close_output(temporary, options->output, status) : status;
}

int cmd_export(int argc, char **argv)
{
	struct options options = {0};
	const char *slash;
	int status;

	if (parse(argc, argv, &options)) {
		fputs("Try 'dwell export --help'.\n", stderr);
		free(options.path);
		return EXIT_USAGE;
	}
	if (options.help) {
		print_usage();
		return EXIT_OK;
	}
	slash = strrchr(options.path, '/');
	options.export.title = slash ? slash + 1 : options.path;
	status = run(&options);
	free(options.path);
	return status;
}
