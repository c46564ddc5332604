// SPDX-License-Identifier: Apache-2.0
/* The session of a measurement under way: opened, written window by window, shown as progress. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../base/clock.h"
#include "../base/figures.h"
#include "../base/log.h"
#include "engine_state.h"

#define MEMORY_BYTES_MAX (256u << 20) /* of each of the two files of a session without -o */

/* Once. What the worker itself could not do, it has reported. */
void engine_report_worker(struct engine *engine)
{
	int err = worker_failure(engine->helpers.ingest);
	bool has_ended = err == -EPIPE || err == -ECONNRESET;

	if (err && !engine->is_broken)
		log_error("the session ends at window %llu: the ingest process does not answer: "
			  "%s%s",
			  (unsigned long long)engine->result->windows, strerror(-err),
			  has_ended ? "; a line above or dmesg may say why it has ended" : "");
	engine->is_broken |= err != 0;
}

int engine_start_session(struct engine *engine)
{
	const struct engine_options *options = engine->options;
	struct session_files *files = &engine->result->files;
	const char *path = options->output;
	int err = 0;

	if (options->rotate_ns) {
		err = rotation_open(&engine->result->rotation, path, options->rotate_ns,
				    options->keep, engine->result->path,
				    sizeof(engine->result->path));
		path = engine->result->path;
	}
	if (!err)
		err = path && !options->warmup_ns ? files_create(path, files)
						  : files_create_in_memory(files);
	if (!err)
		err = worker_session_open(engine->helpers.ingest, files->db_fd, files->wal_fd,
					  files->path ? 0 : MEMORY_BYTES_MAX);
	if (!err && options->warmup_ns)
		err = rotation_warm_up(&engine->result->rotation, engine->helpers.ingest,
				       options->warmup_ns, path, MEMORY_BYTES_MAX);
	engine_report_worker(engine);
	return err;
}

u64 engine_file_bytes(const struct session_files *files)
{
	struct stat db = {0}, wal = {0};

	fstat(files->db_fd, &db);
	fstat(files->wal_fd, &wal);
	return (u64)db.st_size + (u64)wal.st_size;
}

void engine_show_progress(const struct engine *engine, const struct health *health)
{
	u64 passed = clock_now_ns() - engine->begin_ns;

	fprintf(stderr, "\r\033[K%llu s", (unsigned long long)(passed / NS_PER_S));
	if (engine->result->rotation.is_warming)
		fprintf(stderr, " of %llu to warm up",
			(unsigned long long)(engine->options->warmup_ns / NS_PER_S));
	else if (engine->options->duration_ns)
		fprintf(stderr, " of %llu",
			(unsigned long long)(engine->options->duration_ns / NS_PER_S));
	if (engine->options->rotate_ns)
		fprintf(stderr, ", file %04llu",
			(unsigned long long)engine->result->rotation.number);
	fprintf(stderr, ", %llu window%s, %s records, %llu lost, %.1f MB; Ctrl-C ends it",
		(unsigned long long)engine->result->windows,
		engine->result->windows == 1 ? "" : "s", FIGURE_NUMBER(health->processed),
		(unsigned long long)(health_lost(health) - health->lost[LOSS_QUEUE_REST]),
		(double)engine_file_bytes(&engine->result->files) / 1e6);
}

/* A file may have taken over the process that wrote it: what it has may be anything. */
static bool is_extent_possible(const struct engine *engine, const struct session_extent *extent)
{
	return extent->end_ns >= engine->file_ns && extent->end_ns <= clock_now_ns() &&
	       extent->next_window >= engine->result->windows &&
	       extent->next_window <= engine->result->windows + 1;
}

/* What it had of the window is lost: how long that was is known, and is not attributed. */
int engine_resume_session(struct engine *engine)
{
	const struct session_files *files = &engine->result->files;
	const struct session_begin begin = {
		.bytes_max = files->path ? 0 : MEMORY_BYTES_MAX,
		.begin_ns = engine->file_ns,
		.window = engine->result->windows,
		.is_first_file = engine->result->rotation.made <= 1 && !engine->discarded,
	};
	struct session_extent extent;
	int err = worker_session_resume(engine->helpers.ingest, files->db_fd, files->wal_fd, &begin,
					&extent);

	if (!err && !is_extent_possible(engine, &extent))
		err = -EBADMSG;
	if (err)
		return err;
	if (extent.is_empty)
		metadata_begin_again(&engine->metadata, engine->options, engine->plan.tier,
				     engine->plan.tier_why, engine->file_ns);
	/* It may have ended after a window was complete, and before it said so. */
	engine->result->windows = extent.next_window;
	engine->window_ns = extent.end_ns;
	return 0;
}

bool engine_write_window(struct engine *engine, u64 end_ns, bool ends_file)
{
	int err = worker_session_window(engine->helpers.ingest, engine->result->windows,
					engine->window_ns, end_ns, ends_file);

	if (!err) {
		engine->result->windows++;
		metadata_window_written(&engine->metadata);
		return true;
	}
	if (engine_waits_for_ingest(engine))
		return false;
	engine_report_worker(engine);
	engine->is_broken = true;
	engine->lost_windows++;
	return false;
}
