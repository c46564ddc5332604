// SPDX-License-Identifier: Apache-2.0
#include "bursts.h"

#include <unistd.h>

static void begin(struct bursts *bursts)
{
	bursts->planned_ns = 0;
	if (bursts->stats_fd >= 0)
		return;
	cost_read_programs(bursts->capture, &bursts->begin);
	for (size_t i = 0; i < bursts->probe_count; i++)
		cost_read_probe(bursts->capture, i, &bursts->begins[i]);
	bursts->stats_fd = cost_begin();
	bursts->begin_ns = clock_now_ns();
}

void bursts_open(struct bursts *bursts, const struct capture *capture, const struct probe *probes,
		 size_t probe_count)
{
	bursts->capture = capture;
	bursts->probes = probes;
	bursts->probe_count = probe_count;
	bursts->stats_fd = -1;
	begin(bursts);
}

void bursts_end(struct bursts *bursts)
{
	struct cost now;

	if (bursts->stats_fd < 0)
		return;
	close(bursts->stats_fd);
	bursts->stats_fd = -1;
	bursts->window_ns += clock_now_ns() - bursts->begin_ns;
	cost_read_programs(bursts->capture, &now);
	bursts->window.bpf_ns += now.bpf_ns - bursts->begin.bpf_ns;
	bursts->window.iter_ns += now.iter_ns - bursts->begin.iter_ns;
	for (size_t i = 0; i < bursts->probe_count; i++) {
		struct probe_cost cost;

		cost_read_probe(bursts->capture, i, &cost);
		bursts->sums[i].runs += cost.runs - bursts->begins[i].runs;
		bursts->sums[i].ns += cost.ns - bursts->begins[i].ns;
		bursts->windows[i] += cost.ns - bursts->begins[i].ns;
		bursts->sums[i].misses = cost.misses; /* these are counted always */
	}
}

u64 bursts_due(const struct bursts *bursts)
{
	if (bursts->stats_fd >= 0)
		return bursts->begin_ns + BURST_NS;
	return bursts->planned_ns ? bursts->planned_ns : ~0ULL;
}

void bursts_look(struct bursts *bursts)
{
	if (clock_now_ns() < bursts_due(bursts))
		return;
	if (bursts->stats_fd >= 0)
		bursts_end(bursts);
	else
		begin(bursts);
}

u64 bursts_hooks_ns(const struct bursts *bursts)
{
	const struct cost *window = &bursts->window;

	return window->bpf_ns > window->iter_ns ? window->bpf_ns - window->iter_ns : 0;
}

void bursts_next_window(struct bursts *bursts, u64 elapsed_ns)
{
	for (size_t i = 0; i < bursts->probe_count; i++) {
		if (bursts->window_ns && bursts->probes[i].kind != PROBE_ITER)
			bursts->scaled[i] += bursts_scale(bursts, bursts->windows[i], elapsed_ns);
		bursts->windows[i] = 0;
	}
	bursts->measured_ns += bursts->window_ns;
	bursts->window_ns = 0;
	bursts->window = (struct cost){0};
}

/* Attached, and not fired once while it was looked at. */
static bool is_any_silent(const struct bursts *bursts)
{
	for (size_t i = 0; i < bursts->probe_count; i++) {
		if (bursts->probes[i].kind != PROBE_ITER && !bursts->probes[i].is_rare &&
		    !bursts->sums[i].runs && !capture_failure(bursts->capture, i)->err &&
		    !capture_is_resting(bursts->capture, i))
			return true;
	}
	return false;
}

void bursts_plan(struct bursts *bursts, u64 window, bool is_wanted)
{
	u64 every = bursts->is_limited ? BURST_EVERY_LIMITED : BURST_EVERY;

	if (is_wanted || (window + 1) % every == 0) {
		bursts->planned_ns = clock_now_ns() + BURST_DELAY_NS;
	} else if (bursts->more < BURST_MORE_MAX && is_any_silent(bursts)) {
		bursts->more++;
		bursts->planned_ns = clock_now_ns() + BURST_DELAY_NS;
	}
}

u64 bursts_scale(const struct bursts *bursts, u64 ns, u64 elapsed_ns)
{
	if (!bursts->window_ns || bursts->window_ns >= elapsed_ns)
		return ns;
	return (u64)((double)ns * (double)elapsed_ns / (double)bursts->window_ns);
}
