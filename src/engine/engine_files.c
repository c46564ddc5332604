// SPDX-License-Identifier: Apache-2.0
/* When a window ends, and with it a file of a recording in several (rotation.h). */
#include <string.h>

#include "../base/log.h"
#include "engine_state.h"

static u64 end_deadline(const struct engine *engine)
{
	const struct engine_options *options = engine->options;

	return options->duration_ns && !engine->result->rotation.is_warming
		       ? engine->begin_ns + options->duration_ns
		       : ~0ULL;
}

/* A file ends with its window: where little would be left of it, that window is longer. */
u64 engine_window_deadline(const struct engine *engine)
{
	u64 window = engine->window_ns + WINDOW_NS;
	u64 file = engine->result->rotation.due_ns;

	if (file < window + WINDOW_NS / 4)
		window = file;
	return clock_sooner(window, end_deadline(engine));
}

/* The last window of the file that is written is in it: the next one begins. */
void engine_next_file(struct engine *engine, u64 end_ns)
{
	struct engine_result *result = engine->result;
	bool was_warming = result->rotation.is_warming;
	int err = engine->is_broken
			  ? 0
			  : rotation_turn(&result->rotation, engine->helpers.ingest, end_ns,
					  &result->files, result->path, sizeof(result->path));

	if (err && engine_waits_for_ingest(engine))
		return; /* this file goes on, and ends with a later window */
	if (err && !engine->is_broken)
		log_error("the recording ends with file %04llu: it could not be ended: %s",
			  (unsigned long long)result->rotation.number, strerror(-err));
	engine->is_broken |= err != 0;
	if (engine->is_broken)
		return;
	engine->file_ns = end_ns;
	if (was_warming) {
		/* From here on it counts. */
		engine->begin_ns = engine->metadata.recording_started_ns = end_ns;
		engine->discarded = result->windows;
	}
	engine->metadata.file_number = result->rotation.number;
	coverage_renew(&engine->throttle.coverage, end_ns);
	metadata_next_file(&engine->metadata, engine->options, engine->plan.tier,
			   engine->plan.tier_why, end_ns, engine->mappings);
}

/* Somebody wants to have this file complete, sooner than it would be. */
static void end_file_early(struct engine *engine)
{
	const struct engine_extra *extra = &engine->options->extra;
	struct rotation *rotation = &engine->result->rotation;
	u64 due_ns = engine->window_ns + WINDOW_NS;

	if (extra->wants_next_file && extra->wants_next_file(extra->context, rotation->number) &&
	    due_ns < rotation->due_ns)
		rotation->due_ns = due_ns;
}

/* The next file is opened when the last window of the one before has begun. */
void engine_prepare_file(struct engine *engine)
{
	struct rotation *rotation = &engine->result->rotation;

	if (engine->options->rotate_ns)
		end_file_early(engine);
	if (rotation->due_ns == ~0ULL || rotation->has_next || engine->is_broken ||
	    engine_window_deadline(engine) < rotation->due_ns ||
	    rotation->due_ns >= end_deadline(engine))
		return;
	rotation_prepare(rotation, engine->helpers.ingest);
}
