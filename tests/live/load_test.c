// SPDX-License-Identifier: Apache-2.0
/*
 * Capture on a real kernel: what loads, what a refusal costs, what the filters let through,
 * whether the counts balance, and that nothing stays. Also runs in each kernel of the matrix.
 */
#include "tap.h"

#include <bpf/bpf.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "../../src/base/cleanup.h"
#include "../../src/base/text.h"
#include "../../src/capture/cost.h"
#include "rig.h"

static const struct probe tp_btf = {.program = "canary_tp_btf"};

/* Programs of ours that the kernel holds. */
static int own_programs(void)
{
	int count = 0;
	u32 id = 0;

	while (!bpf_prog_get_next_id(id, &id)) {
		_cleanup_close_ int fd = bpf_prog_get_fd_by_id(id);
		struct bpf_prog_info info = {0};
		u32 size = sizeof(info);

		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size))
			count += !strncmp(info.name, "canary_", 7);
	}
	return count;
}

static void refusal_takes_only_its_probe(struct rig *rig)
{
	const struct probe probes[] = {
		tp_btf,
		{.program = "canary_refused"},
		{.program = "canary_absent"},
		{.program = "canary_bounded"},
	};
	struct capture_config config = rig_config(rig, probes, ARRAY_SIZE(probes));
	struct capture *capture = rig_capture(&config);
	const struct failure *refused, *absent;

	if (!tap(capture != NULL, "two of four probes are refused, the rest is attached"))
		return;
	refused = capture_failure(capture, 1);
	absent = capture_failure(capture, 2);
	tap(!capture_failure(capture, 0)->err && !capture_failure(capture, 3)->err,
	    "the good probes have no failure");
	tap(refused->err && refused->gate == GATE_LOAD && refused->from_verifier &&
		    refused->excerpt[0] && refused->log,
	    "the verifier's refusal is kept: errno %d, '%s'", refused->err, refused->excerpt);
	tap(absent->err == ESRCH && absent->gate == GATE_LOAD && absent->excerpt[0],
	    "the absent hook is kept: errno %d, '%s'", absent->err, absent->excerpt);
	tap(rig_fire(rig, 1000) && rig_count(rig, capture, &config) == 2000,
	    "both good probes deliver each of 1000 events");
	capture_close(capture);
}

/* Whether the second probe, a fallback of the first, delivers what it does alone. */
static void try_fallback(struct rig *rig, struct probe first, bool is_needed, const char *what)
{
	const struct probe probes[] = {
		first,
		{.program = "canary_bounded", .fallback_of = first.program},
		{.program = "canary_raw_tp", .fallback_of = "canary_bounded"},
	};
	struct capture_config config = rig_config(rig, probes, ARRAY_SIZE(probes));
	struct capture *capture = rig_capture(&config);

	if (!tap(capture != NULL, "%s: a capture with fallbacks loads", what))
		return;
	tap(!capture_failure(capture, 1)->err && capture_is_resting(capture, 1) == !is_needed,
	    "%s: its fallback %s", what, is_needed ? "is attached" : "rests, and has not failed");
	tap(capture_is_resting(capture, 2) && !capture_failure(capture, 2)->err,
	    "%s: the fallback's own fallback rests", what);
	tap(!capture_is_resting(capture, 0) && !capture_failure(capture, 0)->err == !is_needed,
	    "%s: errno %d", what, capture_failure(capture, 0)->err);
	tap(rig_fire(rig, 100) && rig_count(rig, capture, &config) == 100,
	    "%s: one of them delivers each of 100 events", what);
	capture_close(capture);
}

static void fallbacks_rest_until_they_are_needed(struct rig *rig)
{
	try_fallback(rig, tp_btf, false, "a probe that works");
	try_fallback(rig, (struct probe){.program = "canary_absent"}, true,
		     "one that is not loaded");
	try_fallback(rig,
		     (struct probe){.program = "canary_perf",
				    .kind = PROBE_PERF,
				    .perf_type = 0xffff,
				    .perf_freq = 1},
		     true, "one that is not attached");
}

static void refusals_are_remembered(struct rig *rig)
{
	const struct probe probes[] = {tp_btf, {.program = "canary_refused"}};
	const struct probe others[] = {tp_btf, {.program = "canary_absent"}};
	char dir[] = "/tmp/dwell-verdicts-XXXXXX", command[128];
	struct capture_config config = rig_config(rig, probes, ARRAY_SIZE(probes));
	struct capture_config other_config = rig_config(rig, others, ARRAY_SIZE(others));
	struct capture *first, *between, *second, *third;

	config.verdict_dir = other_config.verdict_dir = mkdtemp(dir);
	first = rig_capture(&config);
	between = rig_capture(&other_config);
	second = rig_capture(&config);
	third = rig_capture(&config);
	if (tap(first && between && second && third, "captures with a verdict folder load")) {
		/* The first refusal may come of a shortage. */
		tap(!capture_failure(first, 1)->from_cache &&
			    !capture_failure(second, 1)->from_cache,
		    "the first and the second time the kernel is asked");
		tap(capture_failure(third, 1)->from_cache && capture_failure(third, 1)->err &&
			    capture_failure(third, 1)->from_verifier &&
			    capture_failure(third, 1)->excerpt[0],
		    "the third time it is known, whatever other captures found: '%s'",
		    capture_failure(third, 1)->excerpt);
	}
	capture_close(first);
	capture_close(between);
	capture_close(second);
	capture_close(third);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	if (system(command))
		fprintf(stderr, "# %s stays\n", dir);
}

static void counts_balance(struct rig *rig)
{
	struct capture_config config = rig_config(rig, &tp_btf, 1);
	struct capture *capture = rig_capture(&config);
	struct health health = {0};
	u64 count;

	if (!tap(capture != NULL, "a capture loads"))
		return;
	rig_fire(rig, 10000);
	count = rig_count(rig, capture, &config);
	capture_health(capture, &health);
	tap(count == 10000 && health.sent == 10000 && health_lost(&health) == 0,
	    "10000 events: %llu sent, %llu received, %llu lost", (unsigned long long)health.sent,
	    (unsigned long long)count, (unsigned long long)health_lost(&health));
	tap(health_imbalance(&health) == 0 && health.latency_p99_ns > 0 &&
		    health.queue_high_water > 0,
	    "health is data: p99 %llu ns in the queue, high water %llu of %llu bytes",
	    (unsigned long long)health.latency_p99_ns, (unsigned long long)health.queue_high_water,
	    (unsigned long long)health.queue_bytes);
	capture_close(capture);
}

static void filters_let_through_what_they_say(struct rig *rig)
{
	struct capture_config config = rig_config(rig, &tp_btf, 1);
	struct capture *capture = rig_capture(&config);
	struct live_config live = config.live;
	u64 count;

	if (!tap(capture != NULL, "a capture with filters loads"))
		return;
	make_syscalls(100);
	live.scope = SCOPE_NONE;
	capture_set_live(capture, &live);
	rig_fire(rig, 100);
	live.scope = SCOPE_LISTED;
	live.sample_one_in = 10;
	capture_set_live(capture, &live);
	rig_fire(rig, 10000);
	count = rig_count(rig, capture, &config);
	tap(count > 700 && count < 1300,
	    "not listed, scope none: nothing; one in 10 of 10000, within 30 %%: %llu",
	    (unsigned long long)count);
	capture_close(capture);
}

static void dwell_does_not_measure_itself(struct rig *rig)
{
	struct capture_config config = rig_config(rig, &tp_btf, 1);
	struct capture *capture;
	u64 count;

	config.live.scope = SCOPE_ALL;
	config.filters = NULL;
	config.filter_count = 0;
	capture = rig_capture(&config);
	if (!tap(capture != NULL, "a capture of all tasks loads"))
		return;
	make_syscalls(1000);
	rig_fire(rig, 10);
	count = rig_count(rig, capture, &config);
	tap(count == 10, "of 1000 own and 10 other syscalls, %llu were recorded",
	    (unsigned long long)count);
	capture_close(capture);
}

static void cost_is_measured(struct rig *rig)
{
	struct capture_config config = rig_config(rig, &tp_btf, 1);
	struct capture *capture = rig_capture(&config);
	_cleanup_close_ int stats = cost_begin();
	struct cost cost = {0};

	if (!tap(capture && stats >= 0, "bpf_stats can be switched on"))
		return;
	rig_fire(rig, 10000);
	cost_read(capture, &cost);
	tap(cost.bpf_runs >= 10000 && cost.bpf_ns > 0,
	    "the programs' own time: %llu ns in %llu runs", (unsigned long long)cost.bpf_ns,
	    (unsigned long long)cost.bpf_runs);
	tap(cost.user_cpu_ns > 0 && cost.rss_bytes > 0 && cost.map_bytes >= config.ring_bytes,
	    "dwell's own: %llu ms CPU, %llu KiB resident, %llu KiB of maps",
	    (unsigned long long)cost.user_cpu_ns / 1000000,
	    (unsigned long long)cost.rss_bytes / 1024, (unsigned long long)cost.map_bytes / 1024);
	capture_close(capture);
}

int main(void)
{
	struct rig rig;

	if (!tap(!rig_start(&rig, QUEUE_BYTES_DEFAULT), "the worker starts"))
		return 1;
	refusal_takes_only_its_probe(&rig);
	fallbacks_rest_until_they_are_needed(&rig);
	refusals_are_remembered(&rig);
	counts_balance(&rig);
	filters_let_through_what_they_say(&rig);
	dwell_does_not_measure_itself(&rig);
	cost_is_measured(&rig);
	rig_stop(&rig);
	/* The kernel frees programs behind our back, after a grace period. */
	for (int i = 0; i < 100 && own_programs(); i++)
		usleep(10000);
	tap(own_programs() == 0, "a second later no program of ours is in the kernel");
	return tap_status();
}
