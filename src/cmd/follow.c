// SPDX-License-Identifier: Apache-2.0
#include "follow.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "../base/clock.h"
#include "../base/log.h"
#include "brake.h"
#include "cmd.h"
#include "interrupts.h"
#include "late.h"
#include "mappings.h"
#include "minutes.h"
#include "probes.h"
#include "target.h"

/* Rows are some 1.5 KB each, and come in thousands when a window ends or a program does. */
#define FOLLOW_QUEUE_BYTES (8u << 20)

#define LAST_SWITCH_NS	 (20 * NS_PER_MS)  /* a dead process is reaped before its last switch */
#define MEMORY_BYTES_MAX (256u << 20)	   /* of each of the two files of a session without -o */
#define GRACE_NS	 (500 * NS_PER_MS) /* for a command that was told to end with us */
#define PREPARE_NS	 (2 * NS_PER_S)	   /* for the tables of who is there at the start */
#define ATTEND_NS	 (50 * NS_PER_MS)  /* to the mappings of processes, at once */

struct follow {
	const struct follow_options *options;
	struct follow_result *result;
	enum tier tier;
	const char *tier_why; /* NULL: it is as was asked for, or the default */
	struct probe_list probes;
	struct live_config live;
	struct selection selection;
	struct queue *queue;
	struct worker *worker;
	struct capture *capture;
	struct mappings *mappings; /* NULL: no stacks of user code are walked */
	struct target target;
	struct late late;
	struct minutes minutes;
	struct brake brake;
	struct interrupts interrupts;
	u64 begin_ns;	  /* of the whole */
	u64 window_ns;	  /* begin of the window that is open */
	bool has_looked;  /* extra.on_look() was called, or is not wanted */
	bool is_given_up; /* by the governor: dwell cost too much */
	bool is_broken;	  /* the session cannot be written any more; the command goes on */
	u64 lost_windows; /* since then */
};

/* --- what is attached --- */

/* 0 or -EOPNOTSUPP, told: what was asked for is not replaced by less. */
static int choose_tier(struct follow *follow)
{
	const struct follow_options *options = follow->options;
	const char *demanding = probes_demanding(options);

	follow->tier = options->tier;
	if (options->tier == TIER_DEFAULT)
		follow->tier = options->command || demanding ? TIER_B : TIER_A;
	if (options->tier == TIER_A && demanding) {
		log_error("-s %s is measured by Tier B's hooks: leave out --tier A, or the signal",
			  demanding);
		return -EOPNOTSUPP;
	}
	if (follow->tier == TIER_A || capture_has_task_storage())
		return 0;
	if (options->tier == TIER_B || demanding) {
		log_error("cannot follow with %s%s: this kernel has no task storage for BPF, "
			  "which came with 5.12 → %s, or use a newer kernel",
			  demanding ? "-s " : "--tier B", demanding ? demanding : "",
			  demanding ? "leave out the signal" : "use --tier A");
		return -EOPNOTSUPP;
	}
	follow->tier = TIER_A;
	follow->tier_why = "this kernel has no task storage for BPF, which Tier B needs";
	log_info("Tier A, scheduler hooks only: %s", follow->tier_why);
	return 0;
}

static void choose_stacks(const struct follow *follow, struct capture_config *config)
{
	const struct stack_options *stacks = &follow->options->stacks;

	config->seed = stacks->seed;
	config->sample_period_ns = stacks->freq ? (u32)(NS_PER_S / stacks->freq) : 0;
	config->live.min_block_ns = stacks->min_block_ns;
	if (stacks->is_off || stacks->no_blocks)
		config->live.block_stacks = 0;
}

static void choose_signals(const struct follow *follow, struct capture_config *config)
{
	const struct signal_options *signals = &follow->options->signals;

	config->signals = signals->chosen;
	config->pair_limit_ns = signals->pair_limit_ns;
	config->live.slow_ns = signals->slow_ns;
	config->live.stack_one_in = signals->stack_one_in;
	config->live.alloc_interval = follow->options->alloc.interval;
	config->live.alloc_kernel_bytes = follow->options->alloc.kernel_bytes;
	config->live.alloc_live = follow->options->alloc.live;
	probes_share(signals->chosen, config->series_limits);
}

/* The one place where the tasks that a person chose become the capture's filter. */
static void choose_tasks(struct follow *follow, struct capture_config *config)
{
	struct selection *tasks = &follow->selection;

	*tasks = follow->options->selection;
	if (follow->options->command)
		tasks->filters[tasks->count++] =
			(struct filter_key){FILTER_BY_TREE, {(u64)follow->target.pid}};
	select_apply(tasks, config);
}

static int start_capture(struct follow *follow)
{
	struct capture_config config = {
		.probes = follow->probes.items,
		.ring_bytes = RING_BYTES_DEFAULT,
		.worker_pid = worker_pid(follow->worker),
		.queue = follow->queue,
		.verdict_dir = "/run/dwell",
		.on_row = brake_row,
		.row_context = &follow->brake,
	};
	int err = choose_tier(follow);

	if (err)
		return err;
	config.split = follow->tier == TIER_B;
	probes_choose(&follow->probes, follow->options, follow->tier);
	config.probe_count = follow->probes.count;
	capture_live_defaults(&config.live);
	choose_stacks(follow, &config);
	choose_signals(follow, &config);
	if (follow->options->extra.one_in)
		config.live.sample_one_in = follow->options->extra.one_in;
	choose_tasks(follow, &config);
	follow->live = config.live;
	if (config.split)
		log_verbose("Tier B costs 0.3 to 0.4 us for each system call of what is followed, "
			    "0.2 us for each page fault; --tier A does without, --max-overhead "
			    "holds it");
	err = capture_open(&config, &follow->capture);
	if (err)
		return err;
	follow->brake = (struct brake){
		.governor = {.limit = follow->options->overhead_limit,
			     .has_signals = follow->options->signals.chosen != 0,
			     .has_split = config.split,
			     .has_stacks = !follow->options->stacks.is_off,
			     .has_detail = true},
		.capture = follow->capture,
		.probes = follow->probes.items,
		.probe_count = follow->probes.count,
		.live = &follow->live,
		.signals = follow->options->signals.chosen,
	};
	err = capture_load(follow->capture);
	if (!err && follow->options->extra.on_loaded)
		err = follow->options->extra.on_loaded(follow->options->extra.context,
						       follow->capture);
	if (!err)
		err = capture_attach(follow->capture);
	return probes_check(&follow->probes, follow->capture) ? -EOPNOTSUPP : err;
}

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
	u64 until_ns = clock_now_ns() + PREPARE_NS;

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
	fprintf(stderr, ", %llu windows, %llu records, %llu lost, %.1f MB; Ctrl-C ends it",
		(unsigned long long)follow->result->windows, (unsigned long long)health->processed,
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
	enum governor_step what = brake_judge(&follow->brake, reading, &step);

	if (what != GOVERNOR_STAY) {
		if (follow->options->show_progress)
			fputs("\r\033[K", stderr);
		log_info("%s: %s; --max-overhead allows more", step.what, step.why);
		minutes_step(&follow->minutes, &step);
	}
	follow->is_given_up = what == GOVERNOR_DETACH;
	/* What waits for a file must not come back with the next one. */
	if (!(follow->brake.signals >> SIG_ALLOC & 1))
		follow->late.is_given_up = true;
	return brake_is_alert(&follow->brake, what);
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
		follow->live.is_ending = 1;
		capture_set_live(follow->capture, &follow->live);
		capture_detach(follow->capture);
	}
	if (follow->mappings)
		mappings_read_perf_maps(follow->mappings, clock_now_ns() + ATTEND_NS);
	capture_health(follow->capture, &health);
	if (minutes_window(&follow->minutes, follow->result->windows, &health, is_last, &reading) &&
	    !is_last)
		is_alert = hold_limit(follow, &reading);
	minutes_plan(&follow->minutes, follow->result->windows, is_alert);
	if (is_last)
		minutes_end(&follow->minutes, end_ns, follow->mappings);
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
		u64 burst_end = minutes_burst_end(&follow->minutes);

		attend_until(follow, sooner(deadline, sooner(burst_end, look_deadline(follow))));
		minutes_look(&follow->minutes);
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
	follow->minutes = (struct minutes){
		.worker = follow->worker,
		.capture = follow->capture,
		.probes = follow->probes.items,
		.probe_count = follow->probes.count,
		.stats_fd = cost_begin(),
		.burst_begin_ns = follow->begin_ns,
		.is_limited = follow->options->overhead_limit > 0,
	};
	minutes_begin(&follow->minutes, follow->options, follow->tier, follow->tier_why,
		      follow->begin_ns);
	if (follow->options->extra.on_begin)
		follow->options->extra.on_begin(follow->options->extra.context, follow->capture);
	err = probes_run(&follow->probes, follow->capture, PROBES_SEED);
	if (!err && follow->options->command)
		err = target_let_go(&follow->target);
	if (err) {
		log_error("cannot follow: seeding the threads failed: %s", strerror(-err));
		return;
	}
	keep_windows(follow);
	result->wall_ns = clock_now_ns() - follow->begin_ns;
	result->is_complete = !worker_session_close(follow->worker) && !follow->is_broken;
	result->is_reportable = result->windows > 0;
	result->files_end = result->is_complete ? FILES_COMPLETE : FILES_NEED_WAL;
	if (follow->lost_windows)
		log_error("the session has %llu windows; the last %llu could not be written",
			  (unsigned long long)result->windows,
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
		.minutes.stats_fd = -1,
		.interrupts.fd = -1,
	};

	*ret_result =
		(struct follow_result){.files = {.db_fd = -1, .wal_fd = -1}, .status = EXIT_FAILED};
	if (!start(&follow)) {
		ret_result->status = EXIT_UNSUPPORTED;
		if (!start_capture(&follow)) {
			ret_result->status = EXIT_FAILED;
			if (!start_session(&follow))
				follow_tasks(&follow);
		}
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
