// SPDX-License-Identifier: Apache-2.0
#include "metadata.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "../base/build_id.h"
#include "../base/clock.h"
#include "../base/log.h"
#include "../base/text.h"
#include "../base/version.h"
#include "../model/signal.h"
#include "host_settings.h"
#include "option_facts.h"

#define VALUE_BYTES 1024

/* Failing to send is seen by the window that follows. */
static void send_rows(struct metadata *metadata)
{
	worker_session_rows(metadata->helpers->ingest, &metadata->rows);
	metadata->rows.size = 0;
}

static void add(struct metadata *metadata, enum store_table table, const struct cell *cells)
{
	if (rows_add(&metadata->rows, table, cells))
		return;
	send_rows(metadata);
	rows_add(&metadata->rows, table, cells);
}

static struct cell text_cell(const char *text)
{
	return text ? cell_text(text, VALUE_BYTES) : (struct cell){.kind = CELL_NULL};
}

static void add_fact(void *metadata, const char *key, const char *value)
{
	const struct cell cells[] = {text_cell(key), text_cell(value)};

	if (value)
		add(metadata, TABLE_META, cells);
}

static void add_number(void *metadata, const char *key, u64 number)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	add_fact(metadata, key, text);
}

static void add_host(struct metadata *metadata)
{
	struct utsname name;
	struct timespec tick;
	char boot_id[64];

	if (!uname(&name)) {
		add_fact(metadata, "kernel", name.release);
		add_fact(metadata, "machine", name.machine);
		add_fact(metadata, "host", name.nodename);
	}
	if (text_read_file("/proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id)) > 0)
		add_fact(metadata, "boot_id", boot_id);
	add_number(metadata, "cpus", (u64)sysconf(_SC_NPROCESSORS_ONLN));
	/* The coarse clock moves once a tick: what CONFIG_HZ is, without a look at it. */
	if (!clock_getres(CLOCK_MONOTONIC_COARSE, &tick) && !tick.tv_sec)
		add_number(metadata, "tick_ns", (u64)tick.tv_nsec);
}

/* The same moment by both clocks, as near as two reads can be. */
static void add_clocks(struct metadata *metadata, u64 started_ns)
{
	struct timespec now;
	u64 since = clock_now_ns() - started_ns;

	clock_gettime(CLOCK_REALTIME, &now);
	add_number(metadata, "started_ns", started_ns);
	add_number(metadata, "started_real_ns",
		   (u64)now.tv_sec * NS_PER_S + (u64)now.tv_nsec - since);
	add_number(metadata, "window_ns", WINDOW_NS);
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Of all processes. */
static void read_cost(const struct metadata *metadata, struct cost *ret_cost)
{
	cost_read(metadata->capture, ret_cost);
	helpers_add_cost(metadata->helpers, ret_cost);
}

/* A limit that cannot be held is not kept silently. */
static void tell_unknown(const struct metadata *metadata, const struct engine_options *options)
{
	if (!metadata->can_measure && options->overhead_limit > 0)
		log_info("--max-overhead %s limits the CPU time of dwell's own processes only: the "
			 "cost of its BPF programs is not known, as %s",
			 options->max_overhead, metadata->bursts.why_none);
}

/* Of a recording in several files: which one it is. */
static void add_rotation(struct metadata *metadata, const struct engine_options *options)
{
	if (!options->rotate_ns)
		return;
	add_number(metadata, "rotate_ns", options->rotate_ns);
	add_number(metadata, "keep", options->keep);
	add_number(metadata, "file_number", metadata->file_number);
	add_number(metadata, "recording_started_ns", metadata->recording_started_ns);
}

static void add_build(struct metadata *metadata)
{
	char build_id[BUILD_ID_TEXT_BYTES];

	build_id_own(build_id);
	if (*build_id)
		add_fact(metadata, "dwell_build_id", build_id);
}

/* What each file says of the whole. */
static void add_facts(struct metadata *metadata, const struct engine_options *options,
		      enum tier tier, const char *tier_why, u64 started_ns)
{
	char filter[VALUE_BYTES];

	add_fact(metadata, "schema", SESSION_SCHEMA);
	add_fact(metadata, "dwell_version", DWELL_VERSION);
	add_build(metadata);
	add_host(metadata);
	add_clocks(metadata, started_ns);
	/* The name alone: arguments may hold what nobody wants in a file. */
	add_fact(metadata, "command", options->command ? name_of(options->command[0]) : NULL);
	add_fact(metadata, "tier", tier == TIER_B ? "B" : "A");
	add_fact(metadata, "tier_why", tier_why);
	select_describe(&options->selection, filter, sizeof(filter));
	if (options->command)
		snprintf(filter, sizeof(filter), "command");
	add_fact(metadata, "filter", filter);
	add_fact(metadata, "max_overhead", options->max_overhead);
	option_facts_add(options, add_fact, metadata);
	host_settings_add(add_fact, metadata);
	add_rotation(metadata, options);
	if (!metadata->can_measure)
		add_fact(metadata, "cost_unknown", metadata->bursts.why_none);
	send_rows(metadata);
}

void metadata_begin_again(struct metadata *metadata, const struct engine_options *options,
			  enum tier tier, const char *tier_why, u64 started_ns)
{
	add_facts(metadata, options, tier, tier_why, started_ns);
	if (started_ns == metadata->recording_started_ns)
		add_number(metadata, "start_cpu_ns", metadata->start_cpu_ns);
	send_rows(metadata);
	host_state_free(metadata->host);
	metadata->host = host_state_begin(metadata->helpers->ingest);
}

void metadata_begin(struct metadata *metadata, const struct engine_options *options, enum tier tier,
		    const char *tier_why, u64 started_ns)
{
	metadata->recording_started_ns = started_ns;
	metadata->can_measure = !metadata->bursts.stats_err;
	tell_unknown(metadata, options);
	metadata->steal_before_ns = cpus_steal_ns();
	metadata->before_ns = clock_now_ns();
	read_cost(metadata, &metadata->before);
	metadata->start_cpu_ns = metadata->before.user_cpu_ns;
	metadata_begin_again(metadata, options, tier, tier_why, started_ns);
}

void metadata_next_file(struct metadata *metadata, const struct engine_options *options,
			enum tier tier, const char *tier_why, u64 started_ns,
			const struct mappings *mappings)
{
	metadata_begin_again(metadata, options, tier, tier_why, started_ns);
	metadata->steal_before_ns = cpus_steal_ns();
	metadata->cpus = (struct cpus){.err = metadata->cpus.err};
	bursts_renew(&metadata->bursts);
	if (mappings)
		metadata->unwinding_before = metadata->unwinding;
}

/* What is under way is no loss: the queue's rest is processed by the window's end. */
static bool is_settled(enum loss loss, bool is_last)
{
	return loss != LOSS_QUEUE_REST && (loss != LOSS_RING_REST || is_last);
}

static void add_losses(struct metadata *metadata, u64 window, const struct health *health,
		       bool is_last)
{
	for (int i = 0; i < LOSS_COUNT; i++) {
		u64 lost = health->lost[i] - metadata->told.lost[i];
		const struct cell cells[] = {cell_number(window), text_cell(loss_names[i]),
					     cell_number(lost)};

		if (health->lost[i] > metadata->told.lost[i] && is_settled((enum loss)i, is_last))
			add(metadata, TABLE_LOSSES, cells);
	}
	metadata->told = *health;
}

static void add_overhead(struct metadata *metadata, u64 window, const struct health *health,
			 const struct cost *now, u64 elapsed_ns)
{
	u64 bpf_ns = bursts_hooks_ns(&metadata->bursts, elapsed_ns);
	const struct cell cells[] = {
		cell_number(window),
		metadata->bursts.window_ns ? cell_number(bpf_ns) : (struct cell){.kind = CELL_NULL},
		cell_number(now->user_cpu_ns - metadata->before.user_cpu_ns),
		cell_number(now->rss_bytes),
		cell_number(now->map_bytes),
		cell_number(health->ring_fill_max),
	};

	add(metadata, TABLE_OVERHEAD, cells);
}

static void add_speed(struct metadata *metadata, u64 window)
{
	u64 loop_ns = cpu_speed_take_ns(&metadata->speed);
	const struct cell cells[] = {cell_number(window), cell_number(loop_ns)};

	if (loop_ns)
		add(metadata, TABLE_SPEED, cells);
}

static void read_window(const struct metadata *metadata, const struct cost *now, u64 now_ns,
			struct governor_reading *ret_reading)
{
	const struct bursts *bursts = &metadata->bursts;
	u64 elapsed_ns = now_ns - metadata->before_ns;

	*ret_reading = (struct governor_reading){
		.bpf_ns = bursts_hooks_ns(bursts, elapsed_ns),
		.user_ns = now->user_cpu_ns - metadata->before.user_cpu_ns,
		.elapsed_ns = elapsed_ns,
		.cpus = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN),
	};
}

bool metadata_window(struct metadata *metadata, u64 window, const struct health *health,
		     bool is_last, struct governor_reading *ret_reading)
{
	u64 now_ns = clock_now_ns();
	bool is_measured;
	struct cost now;

	bursts_end(&metadata->bursts);
	read_cost(metadata, &now);
	is_measured = (metadata->bursts.window_ns && metadata->bursts.is_judged) ||
		      !metadata->can_measure;
	read_window(metadata, &now, now_ns, ret_reading);
	add_losses(metadata, window, health, is_last);
	add_overhead(metadata, window, health, &now, now_ns - metadata->before_ns);
	add_speed(metadata, window);
	send_rows(metadata);
	bursts_next_window(&metadata->bursts, now_ns - metadata->before_ns);
	if (!is_last)
		host_state_window(metadata->host);
	metadata->before = now;
	metadata->before_ns = now_ns;
	return is_measured;
}

void metadata_step(struct metadata *metadata, const struct throttle_step *step)
{
	const struct cell cells[] = {
		cell_number(clock_now_ns()),
		cell_text(step->what, sizeof(step->what)),
		cell_text(step->why, sizeof(step->why)),
	};

	add(metadata, TABLE_STEPS, cells);
	send_rows(metadata);
}

/* One program can be attached in several places: 0, or why one of them failed. */
static int hook_error(const struct metadata *metadata, const char *program)
{
	for (size_t i = 0; i < metadata->probe_count; i++)
		if (!strcmp(metadata->probes[i].program, program) &&
		    capture_failure(metadata->capture, i)->err)
			return capture_failure(metadata->capture, i)->err;
	return 0;
}

static struct cell known_cell(const struct metadata *metadata, u64 number)
{
	return metadata->can_measure ? cell_number(number) : (struct cell){.kind = CELL_NULL};
}

static void add_hooks(struct metadata *metadata)
{
	for (size_t i = 0; i < metadata->probe_count; i++) {
		int err = hook_error(metadata, metadata->probes[i].program);
		const struct probe_cost *cost = &metadata->bursts.sums[i];
		struct probe_cost all;

		/* An iterator or a fallback that nobody needed is not silent, nor what was off, nor
		 * one whose runs are counted as another's. */
		if (capture_is_resting(metadata->capture, i) ||
		    capture_is_called(metadata->capture, i) ||
		    (metadata->probes[i].kind == PROBE_ITER && !cost->runs && !err) ||
		    (metadata->bursts.were_off[i] && !cost->runs && !err))
			continue;
		cost_read_probe(metadata->capture, i, &all); /* misses are counted always */
		const struct cell cells[] = {
			text_cell(metadata->probes[i].program),
			text_cell(metadata->probes[i].fallback_of),
			cell_number(!err),
			text_cell(err ? strerror(err) : NULL),
			known_cell(metadata, cost->runs),
			known_cell(metadata, cost->ns),
			cell_number(all.misses - metadata->bursts.misses_before[i]),
			cell_number(metadata->bursts.measured_ns),
			known_cell(metadata, metadata->bursts.scaled[i]),
		};

		add(metadata, TABLE_HOOKS, cells);
	}
}

static void add_coverage(struct metadata *metadata, const struct coverage *coverage, u64 ended_ns)
{
	for (size_t i = 0; i < coverage->count; i++) {
		const struct coverage_part *part = &coverage->parts[i];
		const struct cell cells[] = {
			text_cell(part->name),
			cell_number(coverage_of(part, ended_ns)),
			cell_number(ended_ns - coverage->begin_ns),
			cell_number(part->thinned),
		};

		add(metadata, TABLE_COVERAGE, cells);
	}
	if (coverage->dropped)
		add_number(metadata, "coverage_dropped", coverage->dropped);
}

static void add_unwinding(struct metadata *metadata)
{
	unwinding_facts_add(&metadata->unwinding, &metadata->unwinding_before, add_number,
			    metadata);
	add_number(metadata, "symbolizer_replaced", metadata->symbolizers_replaced);
	metadata->symbolizers_replaced = 0;
}

void metadata_end(struct metadata *metadata, u64 ended_ns, const struct mappings *mappings,
		  const struct coverage *coverage)
{
	bursts_end(&metadata->bursts);
	add_hooks(metadata);
	add_coverage(metadata, coverage, ended_ns);
	if (mappings)
		add_unwinding(metadata);
	add_number(metadata, "steal_ns", cpus_steal_ns() - metadata->steal_before_ns);
	cpus_add_facts(&metadata->cpus, add_number, metadata);
	if (metadata->threads_most) /* else all had ended */
		add_number(metadata, "thread_bytes",
			   metadata->threads_most * cost_thread_bytes(metadata->capture));
	add_number(metadata, "ingest_replaced", metadata->ingests_replaced);
	metadata->ingests_replaced = 0;
	add_number(metadata, "ended_ns", ended_ns);
	send_rows(metadata);
	host_state_end(metadata->host);
}

void metadata_close(struct metadata *metadata)
{
	bursts_end(&metadata->bursts);
	host_state_free(metadata->host);
	metadata->host = NULL;
}
