// SPDX-License-Identifier: Apache-2.0
#include "bursts.h"

#include <string.h>
#include <unistd.h>

static void begin(struct bursts *bursts, bool is_read_out)
{
	if (bursts->stats_fd >= 0)
		return;
	bursts->is_read_out = is_read_out;
	for (size_t i = 0; i < bursts->probe_count; i++)
		cost_read_probe(bursts->capture, i, &bursts->begins[i]);
	bursts->stats_fd = cost_begin();
	bursts->stats_err = bursts->stats_fd < 0 ? -bursts->stats_fd : 0;
	if (bursts->stats_err)
		cost_unknown_reason(bursts->stats_err, bursts->why_none, sizeof(bursts->why_none));
	bursts->begin_ns = clock_now_ns();
}

/* One program may be at several places, each a probe of the list: its time is that of all. */
static void find_repeated(struct bursts *bursts)
{
	for (size_t i = 0; i < bursts->probe_count; i++) {
		bursts->is_repeated[i] = false;
		for (size_t k = 0; k < i && !bursts->is_repeated[i]; k++)
			bursts->is_repeated[i] =
				!strcmp(bursts->probes[i].program, bursts->probes[k].program);
	}
}

void bursts_open(struct bursts *bursts, const struct capture *capture, const struct probe *probes,
		 size_t probe_count)
{
	bursts->capture = capture;
	bursts->probes = probes;
	bursts->probe_count = probe_count;
	find_repeated(bursts);
	bursts->stats_fd = -1;
	bursts->random = clock_now_ns() | 1;
	bursts->is_judged = true;
	/* The first one now, so that it is known whether there is a clock. */
	bursts->end_ns = clock_now_ns() + BURST_NS;
	bursts->plan[1].begin_ns = clock_now_ns() + NS_PER_S / 2;
	bursts->plan[1].end_ns = bursts->plan[1].begin_ns + BURST_NS;
	bursts->planned = 1;
	begin(bursts, false);
}

/*
 * What each probe did; the bursts of a window are its sample, the read-out is not. Returns what the
 * hooks did together: the sum, since programs go on while they are read, one after the other.
 */
static u64 add_probes(struct bursts *bursts)
{
	u64 hooks_ns = 0;

	for (size_t i = 0; i < bursts->probe_count; i++) {
		const struct probe_cost *begin = &bursts->begins[i];
		struct probe_cost cost;
		u64 ns;

		cost_read_probe(bursts->capture, i, &cost);
		ns = cost.ns > begin->ns ? cost.ns - begin->ns : 0; /* it was detached meanwhile */
		if (bursts->probes[i].kind != PROBE_ITER && !bursts->is_repeated[i])
			hooks_ns += ns;
		/* These are counted always. */
		bursts->sums[i].misses = cost.misses - bursts->misses_before[i];
		if (bursts->is_read_out) {
			bursts->read_outs[i] = ns;
			continue;
		}
		bursts->sums[i].runs += cost.runs > begin->runs ? cost.runs - begin->runs : 0;
		bursts->sums[i].ns += ns;
		bursts->windows[i] += ns;
	}
	return hooks_ns;
}

void bursts_end(struct bursts *bursts)
{
	u64 length_ns, hooks_ns;

	if (bursts->stats_fd < 0)
		return;
	close(bursts->stats_fd);
	bursts->stats_fd = -1;
	length_ns = clock_now_ns() - bursts->begin_ns;
	hooks_ns = add_probes(bursts);
	if (bursts->is_read_out) {
		bursts->read_out_ns = hooks_ns;
		bursts->read_out_span_ns = length_ns;
	} else {
		bursts->window_ns += length_ns;
		bursts->hooks_ns += hooks_ns;
	}
}

u64 bursts_due(const struct bursts *bursts)
{
	if (bursts->stats_fd >= 0)
		return bursts->end_ns;
	return bursts->planned < BURSTS_A_WINDOW ? bursts->plan[bursts->planned].begin_ns : ~0ULL;
}

void bursts_look(struct bursts *bursts)
{
	if (clock_now_ns() < bursts_due(bursts))
		return;
	if (bursts->stats_fd >= 0) {
		bursts_end(bursts);
	} else {
		bursts->end_ns = bursts->plan[bursts->planned++].end_ns;
		if (clock_now_ns() < bursts->end_ns)
			begin(bursts, false);
	}
}

void bursts_read_out_begin(struct bursts *bursts)
{
	bursts_end(bursts);
	bursts->planned = BURSTS_A_WINDOW;
	if (bursts->is_judged && !bursts->stats_err)
		begin(bursts, true);
}

void bursts_read_out_end(struct bursts *bursts)
{
	bursts_end(bursts);
}

/* What was spent in the window's bursts, as if they had lasted as long as it did. */
static u64 scale(const struct bursts *bursts, u64 ns, u64 elapsed_ns)
{
	if (!bursts->window_ns || bursts->window_ns >= elapsed_ns)
		return ns;
	return (u64)((double)ns * (double)elapsed_ns / (double)bursts->window_ns);
}

static u64 without_read_out(const struct bursts *bursts, u64 elapsed_ns)
{
	return elapsed_ns > bursts->read_out_span_ns ? elapsed_ns - bursts->read_out_span_ns : 0;
}

u64 bursts_hooks_ns(const struct bursts *bursts, u64 elapsed_ns)
{
	return scale(bursts, bursts->hooks_ns, without_read_out(bursts, elapsed_ns)) +
	       bursts->read_out_ns;
}

void bursts_next_window(struct bursts *bursts, u64 elapsed_ns)
{
	u64 sampled_ns = without_read_out(bursts, elapsed_ns);

	for (size_t i = 0; i < bursts->probe_count; i++) {
		if (bursts->window_ns && bursts->probes[i].kind != PROBE_ITER)
			bursts->scaled[i] += scale(bursts, bursts->windows[i], sampled_ns) +
					     bursts->read_outs[i];
		bursts->windows[i] = 0;
	}
	bursts->measured_ns += bursts->window_ns;
	bursts->window_ns = 0;
	bursts->hooks_ns = 0;
}

/* Marsaglia's xorshift. */
static u64 draw(struct bursts *bursts, u64 below)
{
	u64 x = bursts->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	bursts->random = x;
	return below ? (x >> 11) % below : 0;
}

void bursts_plan(struct bursts *bursts, u64 window, u64 until_ns, bool is_wanted)
{
	u64 every = bursts->is_limited ? BURST_EVERY_LIMITED : BURST_EVERY;
	u64 now = clock_now_ns();
	u64 part = (until_ns > now ? until_ns - now + BURST_NS : 0) / BURSTS_A_WINDOW;

	bursts->is_judged = is_wanted || (window + 1) % every == 0;
	/* What is not allowed now is not allowed later. */
	bursts->planned = bursts->stats_err ? BURSTS_A_WINDOW : 0;
	for (size_t i = 0; i < BURSTS_A_WINDOW; i++) {
		/* One may begin before the window, or end after it, and is cut: so that each moment
		 * has the same chance, also the first and the last. */
		u64 end = i * part + draw(bursts, part);

		bursts->plan[i].begin_ns = now + (end > BURST_NS ? end - BURST_NS : 0);
		bursts->plan[i].end_ns = now + end;
	}
}

void bursts_renew(struct bursts *bursts)
{
	for (size_t i = 0; i < bursts->probe_count; i++) {
		bursts->misses_before[i] += bursts->sums[i].misses;
		bursts->sums[i] = (struct probe_cost){0};
		bursts->scaled[i] = 0;
		bursts->were_off[i] =
			!capture_is_attached(bursts->capture, bursts->probes[i].program);
	}
	bursts->measured_ns = 0;
}
