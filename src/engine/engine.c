// SPDX-License-Identifier: Apache-2.0
#include "engine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../base/clock.h"
#include "../base/log.h"
#include "../base/sandbox.h"
#include "../base/exit_status.h"
#include "engine_state.h"

#define LAST_SWITCH_NS (20 * NS_PER_MS)	 /* a dead process is reaped before its last switch */
#define GRACE_NS       (500 * NS_PER_MS) /* for a command that was told to end with us */
#define ATTEND_NS      (50 * NS_PER_MS)	 /* to the mappings of processes, at once */
#define CATCH_UP_NS    (20 * NS_PER_MS)	 /* with the ring buffer, when a file ends */

/* --- windows --- */

/*
 * Threads that wait and did not move since are left out, but for the first and the last time of a
 * file, and for an ingest process that does not know them.
 */
static int read_rows(struct engine *engine, bool is_last)
{
	bool is_first = engine->window_ns == engine->file_ns || engine->is_ingest_new;
	u64 of_all = is_last ? ALL_ROWS_LAST : is_first;
	int err = 0, series;

	if (engine->live.all_rows != of_all) {
		engine->live.all_rows = of_all;
		err = capture_set_live(engine->capture, &engine->live);
	}
	engine->is_ingest_new = false;
	engine->throttle.thread_rows = 0;
	if (!err)
		err = probes_run(&engine->plan.probes, engine->capture, RUN_EACH_WINDOW);
	if (engine->throttle.thread_rows > engine->metadata.threads_most)
		engine->metadata.threads_most = engine->throttle.thread_rows;
	/* What is left of threads whose last word found no room in the ring buffer. */
	if (!err)
		err = probes_send_rest(engine->capture);
	if (!err)
		rest_sums_sent(&engine->rest_sums, engine->capture);
	if (err && !is_last)
		return err; /* the next window has them */
	series = capture_send_series(engine->capture);
	return err || series == -ENOENT ? err : series;
}

static void tell_step(struct engine *engine, enum governor_move what,
		      const struct throttle_step *step)
{
	if (engine->options->show_progress)
		fputs("\r\033[K", stderr);
	log_info("%s: %s%s", step->what, step->why,
		 what == GOVERNOR_RESTORE ? "" : "; --max-overhead allows more");
	metadata_step(&engine->metadata, step);
}

/* The cost of a window against --max-overhead; true if the next one is to be measured too. */
static bool hold_limit(struct engine *engine, const struct governor_reading *reading)
{
	struct throttle_step step;
	enum governor_move what = throttle_judge(&engine->throttle, reading, &step);

	if (what != GOVERNOR_STAY)
		tell_step(engine, what, &step);
	while (throttle_restore_more(&engine->throttle, reading, &step))
		tell_step(engine, GOVERNOR_RESTORE, &step);
	engine->is_given_up = what == GOVERNOR_DETACH;
	/* What waits for a file must not come back with the next one. */
	for (size_t i = 0; i < PLAN_DEFERRED_MAX; i++)
		deferred_rest(&engine->deferred[i],
			      !(engine->throttle.signals >> engine->deferred[i].signal & 1));
	return throttle_is_alert(&engine->throttle);
}

static void end_window(struct engine *engine, bool is_last)
{
	u64 end_ns = clock_now_ns();
	const struct rotation *rotation = &engine->result->rotation;
	bool ends_file = is_last || (rotation->has_next && end_ns >= rotation->due_ns);
	struct governor_reading reading;
	struct health health;
	bool is_alert = false, is_written;
	int err;

	engine->is_in_end = true;
	bursts_read_out_begin(&engine->metadata.bursts);
	err = read_rows(engine, ends_file);
	bursts_read_out_end(&engine->metadata.bursts);
	cpus_follow(&engine->metadata.cpus, engine->capture, engine->mappings, engine->window_ns);
	if (err == -EAGAIN)
		log_info(
			"some threads are missing in a window, as the ingest process is too busy%s",
			is_last ? "" : "; the next one has them");
	else if (err)
		log_error("threads that still run are missing in a window: reading them failed: %s",
			  strerror(-err));
	if (is_last) {
		engine->live.is_partial = 1;
		capture_set_live(engine->capture, &engine->live);
		capture_detach(engine->capture);
	} else if (ends_file) {
		/* It names what is in this file; the reader looks ten times a second. */
		capture_catch_up(engine->capture, CATCH_UP_NS);
	}
	if (engine->mappings && is_last)
		metadata_read_unwinding(&engine->metadata, engine->mappings);
	metadata_read_health(&engine->metadata, &health);
	if (metadata_window(&engine->metadata, engine->result->windows, &health, is_last,
			    &reading) &&
	    !is_last)
		is_alert = hold_limit(engine, &reading);
	bursts_plan(&engine->metadata.bursts, engine->result->windows, end_ns + WINDOW_NS,
		    is_alert);
	if (ends_file)
		metadata_end(&engine->metadata, end_ns, engine->mappings,
			     &engine->throttle.coverage);
	is_written = engine_write_window(engine, end_ns, ends_file && !is_last);
	if (engine->options->extra.on_window)
		engine->options->extra.on_window(engine->options->extra.context, engine->capture,
						 is_last ? NULL : &engine->live,
						 &engine->result->files);
	if (!is_last)
		capture_forget_told_part(engine->capture, engine->result->windows);
	/* Else ingest has ended: who comes next writes it, with the time until then. */
	if (is_written || engine->is_broken)
		engine->window_ns = end_ns;
	if (ends_file && !is_last && is_written)
		engine_next_file(engine, end_ns);
	if (!is_last)
		engine_prepare_file(engine);
	if (engine->options->show_progress)
		engine_show_progress(engine, &health);
	engine->is_in_end = false;
}

/* What is asked of the symbolizer once a window: it may be busy, and the window ends meanwhile. */
static void ask_symbolizer(struct engine *engine)
{
	if (!engine->mappings)
		return;
	mappings_read_perf_maps(engine->mappings, clock_now_ns() + ATTEND_NS);
	metadata_read_unwinding(&engine->metadata, engine->mappings);
}

/* What probes cost that cost with every call is looked at more often than once a window. */
static void watch_deferred_probes(struct engine *engine)
{
	struct throttle_step step;

	for (size_t i = 0; i < PLAN_DEFERRED_MAX; i++) {
		struct deferred_probes *deferred = &engine->deferred[i];

		if (!deferred_watch(deferred, &step))
			continue;
		if (!deferred->kind->is_part)
			throttle_lose_signal(&engine->throttle, deferred->signal);
		log_info("%s: %s", step.what, step.why);
		metadata_step(&engine->metadata, &step);
	}
}

static void sleep_until(struct engine *engine, u64 deadline_ns)
{
	stop_signals_sleep(&engine->stop_signals, deadline_ns, engine->target.pid, -1);
}

/* Processes map code all the time; windows end in time nevertheless. */
static void attend_until(struct engine *engine, u64 deadline_ns)
{
	struct mappings *mappings = engine->mappings;
	u64 wake_ns = mappings ? mappings_deadline(mappings) : deadline_ns, now_ns;

	stop_signals_sleep(&engine->stop_signals, wake_ns < deadline_ns ? wake_ns : deadline_ns,
			   engine->target.pid, mappings ? mappings_fd(mappings) : -1);
	now_ns = clock_now_ns();
	if (mappings && now_ns < deadline_ns)
		mappings_attend(mappings, deadline_ns - now_ns < ATTEND_NS ? deadline_ns
									   : now_ns + ATTEND_NS);
}

static void release_signals(struct engine *engine)
{
	helpers_watch(&engine->helpers, &(struct worker_meanwhile){.fd = -1});
	stop_signals_release(&engine->stop_signals);
}

/* While a helper is waited for: the first signal is noted, the next one ends dwell. */
static void on_signal(void *context)
{
	struct engine *engine = context;

	sleep_until(engine, 0);
	if (engine->stop_signals.ended_by)
		release_signals(engine);
}

static bool has_ended(struct engine *engine)
{
	const struct engine_options *options = engine->options;

	if (engine->stop_signals.ended_by || (engine->is_broken && !options->command))
		return true;
	if (options->command && target_has_ended(&engine->target))
		return true;
	return options->duration_ns && !engine->result->rotation.is_warming &&
	       clock_now_ns() - engine->begin_ns >= options->duration_ns;
}

static bool is_over(struct engine *engine)
{
	return engine->is_given_up || has_ended(engine);
}

/* A first look, sooner than the first window ends. */
static u64 look_deadline(const struct engine *engine)
{
	u64 look_ns = engine->options->extra.look_ns;

	return look_ns && !engine->has_looked ? engine->begin_ns + look_ns : ~0ULL;
}

static void look(struct engine *engine)
{
	const struct engine_extra *extra = &engine->options->extra;

	if (clock_now_ns() < look_deadline(engine))
		return;
	engine->has_looked = true;
	extra->on_look(extra->context, engine->capture, &engine->live);
}

/* Whoever stopped us may have stopped the command as well: its end belongs to the result. */
static void wait_for_target(struct engine *engine, u64 limit_ns)
{
	u64 deadline = clock_now_ns() + limit_ns;

	while (!target_has_ended(&engine->target) && clock_now_ns() < deadline)
		sleep_until(engine, clock_now_ns() + 10 * NS_PER_MS);
}

/* Nothing is measured any more; the command goes on, and its status is still wanted. */
static void outlast_target(struct engine *engine)
{
	while (!has_ended(engine))
		sleep_until(engine, clock_now_ns() + NS_PER_S / 10);
}

/* The last window, when all is over. */
static void end_measurement(struct engine *engine)
{
	const struct timespec pause = {.tv_nsec = LAST_SWITCH_NS};

	engine_replace_helpers(engine);
	engine->is_ended = true;
	if (engine->stop_signals.ended_by && engine->options->command)
		wait_for_target(engine, GRACE_NS);
	if (!engine->is_given_up)
		release_signals(engine);
	if (engine->options->command)
		nanosleep(&pause, NULL);
	end_window(engine, true);
	if (engine->options->show_progress)
		fputs("\r\033[K", stderr);
}

/* A window ends in time whatever the symbolizer does. */
static u64 meanwhile_due(void *context)
{
	const struct engine *engine = context;

	return engine->is_ended || engine->is_in_end ? ~0ULL : engine_window_deadline(engine);
}

static void on_meanwhile_due(void *context)
{
	struct engine *engine = context;

	if (is_over(engine))
		end_measurement(engine);
	else
		end_window(engine, false);
}

static void keep_windows(struct engine *engine)
{
	const struct worker_meanwhile meanwhile = {
		.fd = engine->stop_signals.fd,
		.on_ready = on_signal,
		.due = meanwhile_due,
		.on_due = on_meanwhile_due,
		.context = engine,
	};

	helpers_watch(&engine->helpers, &meanwhile);
	while (!engine->is_ended && !is_over(engine)) {
		u64 deadline = engine_window_deadline(engine);
		u64 due_ns = clock_sooner(bursts_due(&engine->metadata.bursts),
					  engine->metadata.speed.due_ns);

		attend_until(engine,
			     clock_sooner(deadline, clock_sooner(due_ns, look_deadline(engine))));
		bursts_look(&engine->metadata.bursts);
		cpu_speed_look(&engine->metadata.speed);
		watch_deferred_probes(engine);
		look(engine);
		engine_replace_helpers(engine);
		if (clock_now_ns() >= deadline && !engine->is_ended)
			ask_symbolizer(engine);
		if (clock_now_ns() >= engine_window_deadline(engine) && !engine->is_ended &&
		    !is_over(engine))
			end_window(engine, false);
	}
	if (!engine->is_ended)
		ask_symbolizer(engine);
	if (!engine->is_ended)
		end_measurement(engine);
}

/* --- the whole --- */

static void follow_tasks(struct engine *engine)
{
	struct engine_result *result = engine->result;
	bool is_one_file;
	int err;

	engine_start_mappings(engine);
	engine->begin_ns = engine->window_ns = engine->file_ns = clock_now_ns();
	rotation_begin(&result->rotation, engine->begin_ns);
	coverage_begin(&engine->throttle.coverage, engine->begin_ns);
	engine->metadata = (struct metadata){
		.helpers = &engine->helpers,
		.capture = engine->capture,
		.probes = engine->plan.probes.items,
		.probe_count = engine->plan.probes.count,
		.bursts.is_limited = engine->options->overhead_limit > 0,
		.file_number = result->rotation.number,
	};
	bursts_open(&engine->metadata.bursts, engine->capture, engine->plan.probes.items,
		    engine->plan.probes.count);
	metadata_begin(&engine->metadata, engine->options, engine->plan.tier, engine->plan.tier_why,
		       engine->begin_ns);
	if (engine->options->extra.on_begin)
		engine->options->extra.on_begin(engine->options->extra.context, engine->capture);
	if (engine_limit_privileges(engine))
		return;
	err = probes_run(&engine->plan.probes, engine->capture, RUN_AT_START);
	if (err) {
		log_error("cannot measure: seeding the threads failed: %s", strerror(-err));
		return;
	}
	engine_prepare_file(engine);
	if (engine->options->command && (err = target_let_go(&engine->target))) {
		log_error("cannot start the command: %s", strerror(-err));
		return;
	}
	keep_windows(engine);
	result->wall_ns = clock_now_ns() - engine->begin_ns;
	engine_wait_for_names(engine);
	err = worker_session_close(engine->helpers.ingest);
	engine_report_worker(engine);
	result->windows -= engine->discarded;
	is_one_file = !err && !engine->is_broken;
	result->is_complete = is_one_file && !result->rotation.incomplete;
	result->is_reportable = result->windows > 0;
	result->files_end = is_one_file ? FILES_COMPLETE : FILES_NEED_WAL;
	if (engine->lost_windows)
		log_error("the session has %llu window%s; the last %llu could not be written",
			  (unsigned long long)result->windows, result->windows == 1 ? "" : "s",
			  (unsigned long long)engine->lost_windows);
	if (result->rotation.is_warming && !engine->target.is_refused)
		log_error("nothing was recorded: the measurement ended within --warmup; use a "
			  "shorter one");
	/* Its error was told, or this one, and there is nothing else. */
	if (engine->target.is_refused || result->rotation.is_warming) {
		result->is_reportable = result->is_complete = false;
		result->files_end = FILES_UNUSED;
	}
	result->file_bytes = engine_file_bytes(&result->files);
	result->misplaced = files_misplaced(&result->files);
	if (engine->is_given_up && engine->options->command)
		outlast_target(engine);
	result->status = result->is_complete ? EXIT_OK : EXIT_FAILED;
	if (engine->options->command && !engine->target.pid)
		result->status = engine->target.status;
	else if (engine->options->command && engine->stop_signals.ended_by)
		result->status = 128 + engine->stop_signals.ended_by;
	if (!result->misplaced)
		return;
	log_error("%s: %s", engine->options->output, result->misplaced);
	if (result->status == EXIT_OK)
		result->status = EXIT_FAILED;
}

void engine_run(const struct engine_options *options, struct engine_result *ret_result)
{
	struct engine engine = {
		.options = options,
		.result = ret_result,
		.target = {.go_fd = -1, .refused_fd = -1},
		.metadata.bursts.stats_fd = -1,
		.stop_signals.fd = -1,
	};
	int err;

	*ret_result =
		(struct engine_result){.files = {.db_fd = -1, .wal_fd = -1}, .status = EXIT_FAILED};
	err = engine_start(&engine);
	if (!err)
		err = engine_attach(&engine);
	if (err)
		ret_result->status = engine_attach_status(err);
	if (!err && !engine_start_session(&engine))
		follow_tasks(&engine);
	stop_signals_release(&engine.stop_signals);
	metadata_close(&engine.metadata);
	rotation_close(&ret_result->rotation);
	target_leave(&engine.target);
	mappings_close(engine.mappings);
	for (size_t i = 0; i < PLAN_DEFERRED_MAX; i++)
		deferred_close(&engine.deferred[i]);
	capture_close(engine.capture);
	helpers_stop(&engine.helpers);
	sandbox_report(engine.notes, "privileged process");
	sandbox_notes_free(engine.notes);
	queue_destroy(engine.queue);
}
