// SPDX-License-Identifier: Apache-2.0
#include "follow.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "../base/clock.h"
#include "../base/figures.h"
#include "../base/log.h"
#include "cmd.h"
#include "following.h"

/* Rows are some 1.5 KB each, and come in thousands when a window ends or a program does. */
#define FOLLOW_QUEUE_BYTES (8u << 20)

#define LAST_SWITCH_NS	 (20 * NS_PER_MS)  /* a dead process is reaped before its last switch */
#define MEMORY_BYTES_MAX (256u << 20)	   /* of each of the two files of a session without -o */
#define GRACE_NS	 (500 * NS_PER_MS) /* for a command that was told to end with us */
#define PREPARE_NS	 (2 * NS_PER_S)	   /* for the tables of who is there at the start */
#define ATTEND_NS	 (50 * NS_PER_MS)  /* to the mappings of processes, at once */

/* --- the start --- */

static int start_session(struct follow *follow)
{
	const char *path = follow->options->output;
	struct session_files *files = &follow->result->files;
	int err = path ? files_create(path, files) : files_create_in_memory(files);

	if (!err)
		err = worker_session_open(follow->worker, files->db_fd, files->wal_fd,
					  path ? 0 : MEMORY_BYTES_MAX);
	return err;
}

/*
 * Who is there has its tables before it is followed, or its first samples would lead nowhere. What
 * goes wrong is told; without stacks there is still the ledger.
 */
static void start_mappings(struct follow *follow)
{
	const struct stack_options *stacks = &follow->options->stacks;
	u64 until_ns;

	if (mappings_open(follow->capture, follow->worker, stacks->lines, stacks->inlines,
			  &follow->mappings))
		return;
	late_open(&follow->late, follow->capture, follow->worker, &follow->probes, follow->options);
	if (follow->late.is_wanted)
		mappings_listen(follow->mappings, &follow->late.listener);
	probes_run(&follow->probes, follow->capture, PROBES_ASK);
	/* A command that is held is still us: libraries that most programs have are known then. */
	if (follow->options->command)
		mappings_want(follow->mappings, (u32)follow->target.pid);
	until_ns = clock_now_ns() + PREPARE_NS;
	do
		mappings_attend(follow->mappings, until_ns);
	while (mappings_deadline(follow->mappings) <= clock_now_ns() && clock_now_ns() < until_ns);
}

/* --- windows --- */

static u64 file_bytes(const struct session_files *files)
{
	struct stat db = {0}, wal = {0};

	fstat(files->db_fd, &db);
	fstat(files->wal_fd, &wal);
	return (u64)db.st_size + (u64)wal.st_size;
}

static void show_progress(const struct follow *follow, const struct health *health)
{
	u64 passed = clock_now_ns() - follow->begin_ns;

	fprintf(stderr, "\r\033[K%llu s", (unsigned long long)(passed / NS_PER_S));
	if (follow->options->duration_ns)
		fprintf(stderr, " of %llu",
			(unsigned long long)(follow->options->duration_ns / NS_PER_S));
	fprintf(stderr, ", %llu window%s, %s records, %llu lost, %.1f MB; Ctrl-C ends it",
		(unsigned long long)follow->result->windows,
		follow->result->windows == 1 ? "" : "s", FIGURE_NUMBER(health->processed),
		(unsigned long long)(health_lost(health) - health->lost[LOSS_QUEUE_REST]),
		(double)file_bytes(&follow->result->files) / 1e6);
}

static void write_window(struct follow *follow, u64 end_ns)
{
	int err = worker_session_window(follow->worker, follow->result->windows, follow->window_ns,
					end_ns);

	if (!err)
		follow->result->windows++;
	/* What the writer itself could not do, it has told. */
	else if (!follow->is_broken && err != -ENOSPC && err != -EIO && err != -EROFS)
		log_error("the session ends at window %llu: the worker process does not answer: "
			  "%s; was it killed?",
			  (unsigned long long)follow->result->windows, strerror(-err));
	follow->is_broken |= err != 0;
	follow->lost_windows += err != 0;
}

/* Threads that wait and did not move since are left out, but for the first and the last time. */
static int read_rows(struct follow *follow, bool is_last)
{
	bool is_first = follow->window_ns == follow->begin_ns;
	u64 of_all = is_last ? ALL_ROWS_LAST : is_first;
	int err = 0, series;

	if (follow->live.all_rows != of_all) {
		follow->live.all_rows = of_all;
		err = capture_set_live(follow->capture, &follow->live);
	}
	if (!err)
		err = probes_run(&follow->probes, follow->capture, PROBES_ROWS);
	/* What is left of threads whose last word found no room in the ring buffer. */
	if (!err)
		err = capture_send_map(follow->capture, "ledger_sums");
	if (err == -ENOENT)
		err = 0;
	if (err && !is_last)
		return err; /* the next window has them */
	series = capture_send_series(follow->capture);
	return err || series == -ENOENT ? err : series;
}

/* The cost of a window against --max-overhead; true if the next one is to be measured too. */
static bool hold_limit(struct follow *follow, const struct governor_reading *reading)
{
	struct brake_step step;
	enum governor_move what = brake_judge(&follow->brake, reading, &step);

	if (what != GOVERNOR_STAY) {
		if (follow->options->show_progress)
			fputs("\r\033[K", stderr);
		log_info("%s: %s%s", step.what, step.why,
			 what == GOVERNOR_RESTORE ? "" : "; --max-overhead allows more");
		minutes_step(&follow->minutes, &step);
	}
	follow->is_given_up = what == GOVERNOR_DETACH;
	/* What waits for a file must not come back with the next one. */
	if (!(follow->brake.signals >> SIG_ALLOC & 1))
		follow->late.is_given_up = true;
	return brake_is_alert(&follow->brake);
}

static void end_window(struct follow *follow, bool is_last)
{
	u64 end_ns = clock_now_ns();
	struct governor_reading reading;
	struct health health = {0};
	bool is_alert = false;
	int err = read_rows(follow, is_last);

	if (err == -EAGAIN)
		log_info(
			"some threads are missing in a window, as the worker process is too busy%s",
			is_last ? "" : "; the next one has them");
	else if (err)
		log_error("threads that still run are missing in a window: reading them failed: %s",
			  strerror(-err));
	if (is_last) {
		follow->live.is_partial = 1;
		capture_set_live(follow->capture, &follow->live);
		capture_detach(follow->capture);
	}
	if (follow->mappings)
		mappings_read_perf_maps(follow->mappings, clock_now_ns() + ATTEND_NS);
	capture_health(follow->capture, &health);
	if (minutes_window(&follow->minutes, follow->result->windows, &health, is_last, &reading) &&
	    !is_last)
		is_alert = hold_limit(follow, &reading);
	bursts_plan(&follow->minutes.bursts, follow->result->windows, is_alert);
	if (is_last)
		minutes_end(&follow->minutes, end_ns, follow->mappings, &follow->brake.coverage);
	write_window(follow, end_ns);
	if (follow->options->extra.on_window)
		follow->options->extra.on_window(follow->options->extra.context, follow->capture,
						 is_last ? NULL : &follow->live,
						 &follow->result->files);
	follow->window_ns = end_ns;
	if (follow->options->show_progress)
		show_progress(follow, &health);
}

/* What probes cost that cost with every call is looked at more often than once a window. */
static void watch_late(struct follow *follow)
{
	struct brake_step step;

	if (!late_watch(&follow->late, &step))
		return;
	brake_lose_signal(&follow->brake, SIG_ALLOC);
	log_info("%s: %s", step.what, step.why);
	minutes_step(&follow->minutes, &step);
}

static void sleep_until(struct follow *follow, u64 deadline_ns)
{
	interrupts_sleep(&follow->interrupts, deadline_ns, follow->target.pid, -1);
}

/* Processes map code all the time; windows end in time nevertheless. */
static void attend_until(struct follow *follow, u64 deadline_ns)
{
	struct mappings *mappings = follow->mappings;
	u64 wake_ns = mappings ? mappings_deadline(mappings) : deadline_ns, now_ns;

	interrupts_sleep(&follow->interrupts, wake_ns < deadline_ns ? wake_ns : deadline_ns,
			 follow->target.pid, mappings ? mappings_fd(mappings) : -1);
	now_ns = clock_now_ns();
	if (mappings && now_ns < deadline_ns)
		mappings_attend(mappings, deadline_ns - now_ns < ATTEND_NS ? deadline_ns
									   : now_ns + ATTEND_NS);
}

static void release_signals(struct follow *follow)
{
	worker_watch(follow->worker, -1, NULL, NULL);
	interrupts_release(&follow->interrupts);
}

/* While the worker is waited for: the first signal is noted, the next one ends dwell. */
static void on_signal(void *context)
{
	struct follow *follow = context;

	sleep_until(follow, 0);
	if (follow->interrupts.ended_by)
		release_signals(follow);
}

static bool has_ended(struct follow *follow)
{
	const struct follow_options *options = follow->options;

	if (follow->interrupts.ended_by || (follow->is_broken && !options->command))
		return true;
	if (options->command && target_has_ended(&follow->target))
		return true;
	return options->duration_ns && clock_now_ns() - follow->begin_ns >= options->duration_ns;
}

static bool is_over(struct follow *follow)
{
	return follow->is_given_up || has_ended(follow);
}

static u64 next_deadline(const struct follow *follow)
{
	u64 window = follow->window_ns + MINUTES_WINDOW_NS;
	u64 end = follow->begin_ns + follow->options->duration_ns;

	return follow->options->duration_ns && end < window ? end : window;
}

/* A first look, sooner than the first window ends. */
static u64 look_deadline(const struct follow *follow)
{
	u64 look_ns = follow->options->extra.look_ns;

	return look_ns && !follow->has_looked ? follow->begin_ns + look_ns : ~0ULL;
}

static void look(struct follow *follow)
{
	const struct follow_extra *extra = &follow->options->extra;

	if (clock_now_ns() < look_deadline(follow))
		return;
	follow->has_looked = true;
	extra->on_look(extra->context, follow->capture, &follow->live);
}

static u64 sooner(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* Whoever stopped us may have stopped the command as well: its end belongs to the result. */
static void wait_for_target(struct follow *follow, u64 limit_ns)
{
	u64 deadline = clock_now_ns() + limit_ns;

	while (!target_has_ended(&follow->target) && clock_now_ns() < deadline)
		sleep_until(follow, clock_now_ns() + 10 * NS_PER_MS);
}

/* Nothing is measured any more; the command goes on, and its status is still wanted. */
static void outlast_target(struct follow *follow)
{
	while (!has_ended(follow))
		sleep_until(follow, clock_now_ns() + NS_PER_S / 10);
}

static void keep_windows(struct follow *follow)
{
	const struct timespec pause = {.tv_nsec = LAST_SWITCH_NS};

	worker_watch(follow->worker, follow->interrupts.fd, on_signal, follow);
	while (!is_over(follow)) {
		u64 deadline = next_deadline(follow);
		u64 burst_end = bursts_due(&follow->minutes.bursts);

		attend_until(follow, sooner(deadline, sooner(burst_end, look_deadline(follow))));
		bursts_look(&follow->minutes.bursts);
		watch_late(follow);
		look(follow);
		if (clock_now_ns() >= deadline && !is_over(follow))
			end_window(follow, false);
	}
	if (follow->interrupts.ended_by && follow->options->command)
		wait_for_target(follow, GRACE_NS);
	if (!follow->is_given_up)
		release_signals(follow);
	if (follow->options->command)
		nanosleep(&pause, NULL);
	end_window(follow, true);
	if (follow->options->show_progress)
		fputs("\r\033[K", stderr);
}

/* --- the whole --- */

static int start(struct follow *follow)
{
	const struct follow_options *options = follow->options;
	int err = interrupts_hold(&follow->interrupts);

	if (!err)
		err = queue_create(FOLLOW_QUEUE_BYTES, &follow->queue);
	if (!err)
		err = worker_start(follow->queue, NULL, 0, &follow->worker);
	if (!err && options->command)
		err = target_hold(&follow->target, options->command, &follow->interrupts.inherited);
	if (err)
		log_error("cannot start: %s; see ulimit -u and the free memory", strerror(-err));
	return err;
}

static void follow_tasks(struct follow *follow)
{
	struct follow_result *result = follow->result;
	int err;

	start_mappings(follow);
	follow->begin_ns = follow->window_ns = clock_now_ns();
	coverage_begin(&follow->brake.coverage, follow->begin_ns);
	follow->minutes = (struct minutes){
		.worker = follow->worker,
		.capture = follow->capture,
		.probes = follow->probes.items,
		.probe_count = follow->probes.count,
		.bursts.is_limited = follow->options->overhead_limit > 0,
	};
	bursts_open(&follow->minutes.bursts, follow->capture, follow->probes.items,
		    follow->probes.count);
	minutes_begin(&follow->minutes, follow->options, follow->tier, follow->tier_why,
		      follow->begin_ns);
	if (follow->options->extra.on_begin)
		follow->options->extra.on_begin(follow->options->extra.context, follow->capture);
	err = probes_run(&follow->probes, follow->capture, PROBES_SEED);
	if (!err && follow->options->command)
		err = target_let_go(&follow->target);
	if (err) {
		log_error("cannot measure: seeding the threads failed: %s", strerror(-err));
		return;
	}
	keep_windows(follow);
	result->wall_ns = clock_now_ns() - follow->begin_ns;
	result->is_complete = !worker_session_close(follow->worker) && !follow->is_broken;
	result->is_reportable = result->windows > 0;
	result->files_end = result->is_complete ? FILES_COMPLETE : FILES_NEED_WAL;
	if (follow->lost_windows)
		log_error("the session has %llu window%s; the last %llu could not be written",
			  (unsigned long long)result->windows, result->windows == 1 ? "" : "s",
			  (unsigned long long)follow->lost_windows);
	if (follow->target.is_refused) { /* its error was told, and there is nothing else */
		result->is_reportable = false;
		result->files_end = FILES_UNUSED;
	}
	result->file_bytes = file_bytes(&result->files);
	if (follow->is_given_up && follow->options->command)
		outlast_target(follow);
	result->status = result->is_complete ? EXIT_OK : EXIT_FAILED;
	if (follow->options->command && !follow->target.pid)
		result->status = follow->target.status;
	else if (follow->options->command && follow->interrupts.ended_by)
		result->status = 128 + follow->interrupts.ended_by;
}

void follow_run(const struct follow_options *options, struct follow_result *ret_result)
{
	struct follow follow = {
		.options = options,
		.result = ret_result,
		.target = {.go_fd = -1, .refused_fd = -1},
		.minutes.bursts.stats_fd = -1,
		.interrupts.fd = -1,
	};

	*ret_result =
		(struct follow_result){.files = {.db_fd = -1, .wal_fd = -1}, .status = EXIT_FAILED};
	if (!start(&follow)) {
		int err = follow_attach(&follow);

		if (err && err != -ESRCH)
			ret_result->status = EXIT_UNSUPPORTED;
		if (!err && !start_session(&follow))
			follow_tasks(&follow);
	}
	interrupts_release(&follow.interrupts);
	minutes_close(&follow.minutes);
	target_leave(&follow.target);
	mappings_close(follow.mappings);
	late_close(&follow.late);
	capture_close(follow.capture);
	worker_stop(follow.worker);
	queue_destroy(follow.queue);
}
