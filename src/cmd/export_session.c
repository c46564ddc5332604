// SPDX-License-Identifier: Apache-2.0
#include "export_session.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../store/process_filter.h"
#include "../store/reader.h"
#include "cmd.h"
#include "reader_process.h"

/* Inside the process that reads the session. */
struct reading {
	struct export_request *request;
	int db_fd, wal_fd;
	struct windows windows; /* the part */
	struct profile_filter filter;
	struct profile profile;
	struct timeline timeline;
};

/*
 * Times of both kinds in one sum would say nothing: what is on a CPU is what people expect. Found
 * out first, without names, as those may have to be fetched.
 */
static int choose_kind(sqlite3 *db, struct reading *reading)
{
	struct profile_filter filter = reading->filter;
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
		reading->filter.one_kind = true;
		reading->filter.kind = SAMPLE_CPU;
		log_info("%s cannot distinguish CPU samples from blocked ones: %" PRIu64
			 " blocked samples are left out; use --kind blocked for them",
			 reading->request->exporter->name, (uint64_t)blocked);
	}
	profile_free(&profile);
	return 0;
}

static void tell_what_is_missing(const struct reading *reading, const struct profile *profile)
{
	if (!profile->all.count)
		log_info("the session has no samples of what was asked for%s",
			 profile->kernel.count ? ": only of the kernel's own threads (--kernel)"
					       : "");
	if (profile->no_room.count || profile->stacks_no_room || profile->frames_no_room)
		log_info("too many for %s: %" PRIu64 " samples, %" PRIu64 " stacks and %" PRIu64
			 " frames are left out; take fewer with --pid or --state",
			 reading->request->exporter->name, (uint64_t)profile->no_room.count,
			 (uint64_t)profile->stacks_no_room, (uint64_t)profile->frames_no_room);
}

/* What was asked for, as readers of stacks and of windows want it. */
static void take_part(struct reading *reading)
{
	const struct export_request *request = reading->request;

	reading->filter = profile_filter_of(&request->part);
	reading->filter.windows = &reading->windows;
	if (!request->debuginfod.limit_ms)
		return;
	reading->filter.name_frames = fetched_names;
	reading->filter.name_request = &request->debuginfod;
}

static int read_stacks(sqlite3 *db, struct reading *reading)
{
	const struct windows *windows = &reading->windows;
	struct profile *profile = &reading->profile;
	int err = 0;

	if (reading->request->exporter->flags & EXPORT_ONE_KIND && !reading->filter.one_kind)
		err = choose_kind(db, reading);
	if (!err)
		err = profile_read(db, &reading->filter, profile);
	if (err)
		return err;
	if (windows->is_slice) {
		profile->duration_ns = windows->end_ns - windows->begin_ns;
		if (profile->started_real_ns)
			profile->started_real_ns += windows->begin_ns - windows->start_ns;
	}
	tell_what_is_missing(reading, profile);
	return 0;
}

/* 0, or an error that is told. */
static int write_export(sqlite3 *db, struct reading *reading)
{
	const struct export_request *request = reading->request;
	struct export_source source = {0};
	int err = 0;

	if (request->exporter->flags & EXPORT_STACKS) {
		err = read_stacks(db, reading);
		source.profile = err ? NULL : &reading->profile;
	}
	if (!err && request->exporter->flags & EXPORT_TIMELINE) {
		err = timeline_read(db, &request->part, &reading->windows, &reading->timeline);
		source.timeline = err ? NULL : &reading->timeline;
	}
	if (!err) {
		err = request->exporter->write(&source, &request->export, stdout);
		if (err == -ENOMEM) /* any other is told already */
			log_error("cannot export: %s; take less with --pid or a part of the "
				  "session, as FILE@10s-20s",
				  strerror(ENOMEM));
	}
	if (source.profile)
		profile_free(&reading->profile);
	if (source.timeline)
		timeline_free(&reading->timeline);
	return err;
}

/* The host's name as a text of JSON. */
static int write_host(sqlite3 *db, struct reading *reading)
{
	json_t *name;
	int err = timeline_read(db, &reading->request->part, &reading->windows, &reading->timeline);

	if (err)
		return err;
	name = json_string(timeline_text(&reading->timeline, reading->timeline.facts.host));
	err = name && !json_dumpf(name, stdout, JSON_ENCODE_ANY) ? 0 : -ENOMEM;
	json_decref(name);
	timeline_free(&reading->timeline);
	return err;
}

static int run_inside(const void *context)
{
	struct reading reading = *(const struct reading *)context;
	struct session *session;
	int err = session_open_fds(reading.db_fd, reading.wal_fd, reading.request->path, &session);

	if (err)
		return EXIT_FAILED;
	err = windows_of_part(session_db(session), &reading.request->part, &reading.windows);
	if (!err)
		err = process_filter_read(session_db(session), &reading.request->part);
	take_part(&reading);
	if (!err)
		err = reading.request->exporter ? write_export(session_db(session), &reading)
						: write_host(session_db(session), &reading);
	process_filter_free(&reading.request->part);
	session_close(session);
	return err ? EXIT_FAILED : EXIT_OK;
}

int export_session(struct export_request *request)
{
	_cleanup_close_ int db_fd = -1, wal_fd = -1;

	if (session_open_files(request->path, &db_fd, &wal_fd))
		return EXIT_FAILED;
	return reader_process_run(
		run_inside, &(struct reading){.request = request, .db_fd = db_fd, .wal_fd = wal_fd},
		db_fd, wal_fd, &request->debuginfod);
}
