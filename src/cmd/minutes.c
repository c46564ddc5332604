// SPDX-License-Identifier: Apache-2.0
#include "minutes.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/text.h"
#include "../base/version.h"
#include "../model/signal.h"

#define VALUE_BYTES 1024

/* Failing to send is seen by the window that follows. */
static void send_rows(struct minutes *minutes)
{
	worker_session_rows(minutes->worker, &minutes->rows);
	minutes->rows.size = 0;
}

static void add(struct minutes *minutes, enum store_table table, const struct cell *cells)
{
	if (rows_add(&minutes->rows, table, cells))
		return;
	send_rows(minutes);
	rows_add(&minutes->rows, table, cells);
}

static const char *const refusal_keys[FILE_REFUSAL_COUNT] = {
	[FILE_TAKEN] = "",
	[FILE_UNREACHABLE] = "unwind_files_unreachable",
	[FILE_NOT_REGULAR] = "unwind_files_not_regular",
	[FILE_MAY_BLOCK] = "unwind_files_may_block",
	[FILE_NO_PROGRAM] = "unwind_files_no_program",
};

static struct cell text_cell(const char *text)
{
	return text ? cell_text(text, VALUE_BYTES) : (struct cell){.kind = CELL_NULL};
}

static void add_fact(struct minutes *minutes, const char *key, const char *value)
{
	const struct cell cells[] = {text_cell(key), text_cell(value)};

	if (value)
		add(minutes, TABLE_META, cells);
}

static void add_number(struct minutes *minutes, const char *key, u64 number)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	add_fact(minutes, key, text);
}

static void add_host(struct minutes *minutes)
{
	struct utsname name;
	struct timespec tick;
	char boot_id[64];

	if (!uname(&name)) {
		add_fact(minutes, "kernel", name.release);
		add_fact(minutes, "machine", name.machine);
		add_fact(minutes, "host", name.nodename);
	}
	if (text_read_file("/proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id)) > 0)
		add_fact(minutes, "boot_id", boot_id);
	add_number(minutes, "cpus", (u64)sysconf(_SC_NPROCESSORS_ONLN));
	/* The coarse clock moves once a tick: what CONFIG_HZ is, without a look at it. */
	if (!clock_getres(CLOCK_MONOTONIC_COARSE, &tick) && !tick.tv_sec)
		add_number(minutes, "tick_ns", (u64)tick.tv_nsec);
}

/* What the hypervisor took from all CPUs since the host started, to a tick; 0: not known. */
static u64 read_steal_ns(void)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/stat", "re");
	unsigned long long ticks = 0;

	if (!file || fscanf(file, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &ticks) != 1)
		return 0;
	return ticks * (NS_PER_S / (u64)sysconf(_SC_CLK_TCK));
}

/* The same moment by both clocks, as near as two reads can be. */
static void add_clocks(struct minutes *minutes, u64 started_ns)
{
	struct timespec now;
	u64 since = clock_now_ns() - started_ns;

	clock_gettime(CLOCK_REALTIME, &now);
	add_number(minutes, "started_ns", started_ns);
	add_number(minutes, "started_real_ns",
		   (u64)now.tv_sec * NS_PER_S + (u64)now.tv_nsec - since);
	add_number(minutes, "window_ns", MINUTES_WINDOW_NS);
}

static void add_labels(struct minutes *minutes, const struct follow_options *options)
{
	for (size_t i = 0; i < options->label_count; i++) {
		const char *label = options->labels[i];
		char key[VALUE_BYTES];

		snprintf(key, sizeof(key), "label.%.*s", (int)strcspn(label, "="), label);
		add_fact(minutes, key, strchr(label, '=') + 1);
	}
}

static void add_stacks(struct minutes *minutes, const struct stack_options *stacks,
		       u64 stack_one_in)
{
	add_number(minutes, "freq", stacks->is_off ? 0 : stacks->freq);
	if (stacks->is_off)
		return;
	add_number(minutes, "min_block_ns", stacks->min_block_ns);
	add_number(minutes, "seed", stacks->seed);
	if (stack_one_in)
		add_number(minutes, "stack_one_in", stack_one_in);
}

/* --- options --- */

struct option_rows {
	struct minutes *minutes;
	u32 count;
};

static void add_option(void *context, const char *text)
{
	struct option_rows *rows = context;
	char key[32];

	snprintf(key, sizeof(key), "option.%u", rows->count++);
	add_fact(rows->minutes, key, text);
}

static void add_signals(struct minutes *minutes, const struct signal_options *signals)
{
	char list[VALUE_BYTES] = "";

	for (int id = 1; id < SIGNAL_LIMIT; id++)
		if (signals->chosen >> id & 1)
			snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
				 *list ? "," : "", signal_rows[id].name);
	if (!*list)
		return;
	add_fact(minutes, "signals", list);
	add_number(minutes, "slow_ns", signals->slow_ns);
	add_number(minutes, "pair_limit_ns", signals->pair_limit_ns);
}

static void add_alloc(struct minutes *minutes, const struct follow_options *options)
{
	if (!(options->signals.chosen >> SIG_ALLOC & 1))
		return;
	add_number(minutes, "alloc_every", options->alloc.interval);
	add_number(minutes, "alloc_kernel_bytes", options->alloc.kernel_bytes);
	add_number(minutes, "alloc_live", options->alloc.live);
	add_number(minutes, "alloc_force", options->alloc.force);
}

/* As they were typed, and what they mean: defaults may change with the next version. */
static void add_options(struct minutes *minutes, const struct follow_options *options)
{
	struct option_rows rows = {.minutes = minutes};
	size_t cut = again_list(&options->again, add_option, &rows);

	add_fact(minutes, "kind", options->again.command);
	if (cut)
		add_number(minutes, "options_cut", cut);
	add_number(minutes, "duration_ns", options->duration_ns);
	add_number(minutes, "no_stacks", options->stacks.is_off);
	add_number(minutes, "lines", options->stacks.lines);
	add_number(minutes, "inline", options->stacks.inlines);
	add_signals(minutes, &options->signals);
	add_alloc(minutes, options);
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Of both processes. */
static void read_cost(const struct minutes *minutes, struct cost *ret_cost)
{
	cost_read(minutes->capture, ret_cost);
	cost_add_process(worker_pid(minutes->worker), ret_cost);
}

void minutes_begin(struct minutes *minutes, const struct follow_options *options, enum tier tier,
		   const char *tier_why, u64 started_ns)
{
	char filter[VALUE_BYTES];

	add_fact(minutes, "schema", SESSION_SCHEMA);
	add_fact(minutes, "dwell_version", DWELL_VERSION);
	add_host(minutes);
	add_clocks(minutes, started_ns);
	/* The name alone: arguments may hold what nobody wants in a file. */
	add_fact(minutes, "command", options->command ? name_of(options->command[0]) : NULL);
	add_fact(minutes, "tier", tier == TIER_B ? "B" : "A");
	add_fact(minutes, "tier_why", tier_why);
	select_describe(&options->selection, filter, sizeof(filter));
	if (options->command)
		snprintf(filter, sizeof(filter), "command");
	add_fact(minutes, "filter", filter);
	add_fact(minutes, "max_overhead", options->max_overhead);
	add_stacks(minutes, &options->stacks, options->signals.stack_one_in);
	add_options(minutes, options);
	add_fact(minutes, "note", options->note);
	add_labels(minutes, options);
	send_rows(minutes);
	minutes->can_measure = minutes->bursts.stats_fd >= 0;
	minutes->steal_before_ns = read_steal_ns();
	minutes->before_ns = clock_now_ns();
	read_cost(minutes, &minutes->before);
	minutes->host = host_state_begin(minutes->worker);
}

/* What is under way is no loss: the queue's rest is processed by the window's end. */
static bool is_settled(enum loss loss, bool is_last)
{
	return loss != LOSS_QUEUE_REST && (loss != LOSS_RING_REST || is_last);
}

static void add_losses(struct minutes *minutes, u64 window, const struct health *health,
		       bool is_last)
{
	for (int i = 0; i < LOSS_COUNT; i++) {
		u64 lost = health->lost[i] - minutes->told.lost[i];
		const struct cell cells[] = {cell_number(window), text_cell(loss_names[i]),
					     cell_number(lost)};

		if (health->lost[i] > minutes->told.lost[i] && is_settled((enum loss)i, is_last))
			add(minutes, TABLE_LOSSES, cells);
	}
	minutes->told = *health;
}

static void add_overhead(struct minutes *minutes, u64 window, const struct health *health,
			 const struct cost *now, u64 elapsed_ns)
{
	u64 bpf_ns = bursts_scale(&minutes->bursts, bursts_hooks_ns(&minutes->bursts), elapsed_ns);
	const struct cell cells[] = {
		cell_number(window),
		minutes->bursts.window_ns ? cell_number(bpf_ns) : (struct cell){.kind = CELL_NULL},
		cell_number(now->user_cpu_ns - minutes->before.user_cpu_ns),
		cell_number(now->rss_bytes),
		cell_number(now->map_bytes),
		cell_number(health->queue_high_water),
	};

	add(minutes, TABLE_OVERHEAD, cells);
}

static void read_window(const struct minutes *minutes, const struct cost *now, u64 now_ns,
			struct governor_reading *ret_reading)
{
	const struct bursts *bursts = &minutes->bursts;
	u64 elapsed_ns = now_ns - minutes->before_ns;

	*ret_reading = (struct governor_reading){
		.bpf_ns = bursts_scale(bursts, bursts_hooks_ns(bursts), elapsed_ns),
		.user_ns = now->user_cpu_ns - minutes->before.user_cpu_ns,
		.elapsed_ns = elapsed_ns,
		.cpus = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN),
	};
}

bool minutes_window(struct minutes *minutes, u64 window, const struct health *health, bool is_last,
		    struct governor_reading *ret_reading)
{
	u64 now_ns = clock_now_ns();
	bool is_measured;
	struct cost now;

	bursts_end(&minutes->bursts);
	read_cost(minutes, &now);
	is_measured = minutes->bursts.window_ns || !minutes->can_measure;
	read_window(minutes, &now, now_ns, ret_reading);
	add_losses(minutes, window, health, is_last);
	add_overhead(minutes, window, health, &now, now_ns - minutes->before_ns);
	send_rows(minutes);
	bursts_next_window(&minutes->bursts, now_ns - minutes->before_ns);
	if (!is_last)
		host_state_window(minutes->host);
	minutes->before = now;
	minutes->before_ns = now_ns;
	return is_measured;
}

void minutes_step(struct minutes *minutes, const struct brake_step *step)
{
	const struct cell cells[] = {
		cell_number(clock_now_ns()),
		cell_text(step->what, sizeof(step->what)),
		cell_text(step->why, sizeof(step->why)),
	};

	add(minutes, TABLE_STEPS, cells);
	send_rows(minutes);
}

/* One program can be attached in several places: 0, or why one of them failed. */
static int hook_error(const struct minutes *minutes, const char *program)
{
	for (size_t i = 0; i < minutes->probe_count; i++)
		if (!strcmp(minutes->probes[i].program, program) &&
		    capture_failure(minutes->capture, i)->err)
			return capture_failure(minutes->capture, i)->err;
	return 0;
}

static void add_hooks(struct minutes *minutes)
{
	for (size_t i = 0; i < minutes->probe_count; i++) {
		int err = hook_error(minutes, minutes->probes[i].program);
		const struct probe_cost *cost = &minutes->bursts.sums[i];

		/* An iterator or a fallback that nobody needed is not silent. */
		if (capture_is_resting(minutes->capture, i) ||
		    (minutes->probes[i].kind == PROBE_ITER && !cost->runs && !err))
			continue;
		const struct cell cells[] = {
			text_cell(minutes->probes[i].program),
			text_cell(minutes->probes[i].fallback_of),
			cell_number(!err),
			text_cell(err ? strerror(err) : NULL),
			cell_number(cost->runs),
			cell_number(cost->ns),
			cell_number(cost->misses),
			cell_number(minutes->bursts.measured_ns),
			cell_number(minutes->bursts.scaled[i]),
		};

		add(minutes, TABLE_HOOKS, cells);
	}
}

static void add_coverage(struct minutes *minutes, const struct coverage *coverage, u64 ended_ns)
{
	for (size_t i = 0; i < coverage->count; i++) {
		const struct coverage_part *part = &coverage->parts[i];
		const struct cell cells[] = {
			text_cell(part->name),
			cell_number(coverage_of(part, ended_ns)),
			cell_number(ended_ns - coverage->begin_ns),
			cell_number(part->thinned),
		};

		add(minutes, TABLE_COVERAGE, cells);
	}
	if (coverage->dropped)
		add_number(minutes, "coverage_dropped", coverage->dropped);
}

/* What tables it took to walk stacks, and what they lack. */
static void add_unwinding(struct minutes *minutes, const struct mappings *mappings)
{
	struct mappings_counts here;
	struct symbolize_counts there;

	mappings_counts(mappings, &here);
	add_number(minutes, "unwind_scans", here.scans);
	add_number(minutes, "unwind_scan_ns", here.scan_ns);
	add_number(minutes, "unwind_processes_refused", here.refused + here.unpublished);
	add_number(minutes, "unwind_mappings_lost", here.lost);
	if (worker_unwinding_counts(minutes->worker, &there))
		return;
	add_number(minutes, "unwind_rows", there.tables.rows);
	add_number(minutes, "unwind_rows_most", there.tables.pages.most);
	add_number(minutes, "unwind_rows_capacity", there.tables.capacity);
	add_number(minutes, "unwind_pages_asked", there.tables.pages.asked);
	add_number(minutes, "unwind_pages_again", there.tables.pages.again);
	add_number(minutes, "unwind_pages_refused", there.tables.pages.refused);
	add_number(minutes, "unwind_pages_evicted", there.tables.pages.evicted);
	add_number(minutes, "unwind_pages_unread", there.pages_unread);
	add_number(minutes, "unwind_modules", there.tables.modules);
	add_number(minutes, "unwind_builds", there.builds);
	add_number(minutes, "unwind_build_ns", there.build_ns);
	add_number(minutes, "unwind_cached", there.cached);
	add_number(minutes, "unwind_tables_cut", there.tables.cut + there.tables.mappings_cut);
	add_number(minutes, "unwind_tables_full",
		   there.tables.full + there.tables.mappings_full + there.processes_refused);
	add_number(minutes, "unwind_modules_refused", there.modules_refused + there.no_symbols);
	for (int i = FILE_UNREACHABLE; i < FILE_REFUSAL_COUNT; i++)
		add_number(minutes, refusal_keys[i], there.refused[i]);
}

void minutes_end(struct minutes *minutes, u64 ended_ns, const struct mappings *mappings,
		 const struct coverage *coverage)
{
	bursts_end(&minutes->bursts);
	add_hooks(minutes);
	add_coverage(minutes, coverage, ended_ns);
	if (mappings)
		add_unwinding(minutes, mappings);
	add_number(minutes, "steal_ns", read_steal_ns() - minutes->steal_before_ns);
	add_number(minutes, "ended_ns", ended_ns);
	send_rows(minutes);
	host_state_end(minutes->host);
}

void minutes_close(struct minutes *minutes)
{
	bursts_end(&minutes->bursts);
	host_state_free(minutes->host);
	minutes->host = NULL;
}
