/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A measurement under way, as its own files see it: engine.c, which keeps its windows, and
 * engine_attach.c, which chooses what is attached. Nobody else includes this.
 */
#ifndef DWELL_ENGINE_STATE_H
#define DWELL_ENGINE_STATE_H

#include "throttle.h"
#include "engine.h"
#include "stop_signals.h"
#include "deferred_probes.h"
#include "helpers.h"
#include "rest_sums.h"
#include "mappings.h"
#include "metadata.h"
#include "plan.h"
#include "target_command.h"

/* A process that dies again and again: ingest is given up, the symbolizer for the rest of a minute.
 */
struct replacing {
	u64 since_ns; /* it is counted from then on */
	u32 count;
	bool is_given_up;
};

struct engine {
	const struct engine_options *options;
	struct engine_result *result;
	struct plan plan;
	struct live_config live; /* its knobs, as they are now */
	struct queue *queue;
	struct sandbox_notes *notes; /* what the sandbox refused to this process */
	struct helpers helpers;
	struct capture *capture;
	struct mappings *mappings; /* NULL: no stacks of user code are walked */
	struct target target;
	struct deferred_probes deferred[PLAN_DEFERRED_MAX];
	struct metadata metadata;
	struct throttle throttle;
	struct rest_sums rest_sums;
	struct stop_signals stop_signals;
	u64 begin_ns;	    /* of the whole; after a warm-up, of what is kept */
	u64 file_ns;	    /* of the file that is written */
	u64 window_ns;	    /* begin of the window that is open */
	bool has_looked;    /* extra.on_look() was called, or is not wanted */
	bool is_in_end;	    /* a window ends just now */
	bool is_ingest_new; /* it has replaced another, and knows no thread */
	bool is_ended;	    /* the last window was written */
	bool is_given_up;   /* by the governor: dwell cost too much */
	bool is_broken;	    /* the session cannot be written any more; the command goes on */
	u64 lost_windows;   /* since then */
	u64 discarded;	    /* windows of the warm-up */
	struct replacing replacing_symbolizer, replacing_ingest;
};

/* Has it ended, so that another one will go on with the session? */
static inline bool engine_waits_for_ingest(const struct engine *engine)
{
	return !engine->is_ended && !engine->replacing_ingest.is_given_up &&
	       worker_failure(engine->helpers.ingest);
}

/* Starts the processes, the command held among them: 0 or -errno, told. */
int engine_start(struct engine *engine);
/* Tables for the stacks of who runs already. Failing is told, and costs the stacks only. */
void engine_start_mappings(struct engine *engine);
/* Gives up what is not needed once all is attached: 0 or -errno, told. */
int engine_limit_privileges(struct engine *engine);

/* When the window that is open ends, at the latest. */
u64 engine_window_deadline(const struct engine *engine);

/* Opens the next file of the recording, if the window that is open is the last of this one. */
void engine_prepare_file(struct engine *engine);

/* A window ended then, and with it the file that is written: the next one begins. */
void engine_next_file(struct engine *engine, u64 end_ns);

/* Makes the plan, loads and attaches: 0 or -errno, told. */
int engine_attach(struct engine *engine);

/* What dwell ends with after engine_attach() has failed. */
int engine_attach_status(int err);

/* Opens the session's files and tells the worker: 0 or -errno, told. */
int engine_start_session(struct engine *engine);
/*
 * The window that ends then; ends_file: another file follows. True if it is in the session. If not,
 * and the session is not broken, which is told, the window goes on: ingest has ended.
 */
bool engine_write_window(struct engine *engine, u64 end_ns, bool ends_file);
/* Opens the session once more, for an ingest process that comes after another: 0 or -errno. */
int engine_resume_session(struct engine *engine);
/* Kernel functions get their names; at_once: before the first is asked for. */
void engine_give_kallsyms(struct engine *engine, bool at_once);
/* If the worker does not answer any more. */
void engine_report_worker(struct engine *engine);
/* Names of functions follow after their windows: at the end, the rest is waited for. */
void engine_wait_for_names(struct engine *engine);
/* Processes that died are replaced. */
void engine_replace_helpers(struct engine *engine);
u64 engine_file_bytes(const struct session_files *files);
void engine_show_progress(const struct engine *engine, const struct health *health);

#endif
