// SPDX-License-Identifier: Apache-2.0
#include "throttle.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../abi/records.h"
#include "../base/clock.h"
#include "../base/log.h"
#include "../capture/cost.h"
#include "../model/signal.h"

/* Fewer samples a second on each CPU save nothing, and say little. */
#define FREQ_LEAST 10

/* A start that waits for its end is forgotten after so long, unless --pair-limit says otherwise. */
#define FORGET_NS (5 * NS_PER_S)

void throttle_row(void *context, const struct rec_hdr *row)
{
	struct throttle *throttle = context;
	const struct signal_row *kind = row->type < SIGNAL_LIMIT ? &signal_rows[row->type] : NULL;
	const struct signal *signal = kind ? kind->signal : NULL;

	if (!signal)
		return;
	if (signal->row_events && row->size == kind->record_size)
		heavy_hitters_add(&throttle->calls, row->tgid, signal->row_events(row));
	throttle->thread_rows += signal->has_row_per_thread;
}

/* --- what there is --- */

void throttle_open(struct throttle *throttle, bool has_stacks, bool has_split, bool has_rates)
{
	struct governor_level *levels = throttle->governor.levels;

	throttle->full = *throttle->live;
	levels[GOVERNOR_RATES].most = has_rates ? GOVERNOR_RATES_MOST : 0;
	levels[GOVERNOR_DETAIL].most = 1;
	throttle->has_stacks = has_stacks;
	throttle->has_split = has_split;
	coverage_add(&throttle->coverage, THROTTLE_DETAIL);
	if (has_stacks)
		coverage_add(&throttle->coverage, THROTTLE_STACKS);
	if (has_stacks && throttle->live->block_stacks)
		coverage_add(&throttle->coverage, THROTTLE_WAIT_STACKS);
	if (has_split)
		coverage_add(&throttle->coverage, THROTTLE_SPLIT);
	if (throttle->signals && throttle->live->slow_ns)
		coverage_add(&throttle->coverage, THROTTLE_SLOW);
	for (int id = 1; id < SIGNAL_LIMIT; id++)
		if (throttle->signals >> id & 1)
			coverage_add(&throttle->coverage, signal_rows[id].name);
}

/* --- rates --- */

static u64 lowered(u64 rate, unsigned int level)
{
	return rate && !(rate >> level) ? 1 : rate >> level;
}

static u64 raised(u64 distance, unsigned int level, u64 most)
{
	return distance > most >> level ? most : distance << level;
}

static void turn_knobs(const struct signal *signal, const struct live_config *full,
		       struct live_config *live, unsigned int level)
{
	for (size_t i = 0; signal && i < signal->rate_count; i++) {
		const struct signal_rate *rate = &signal->rates[i];
		const u64 *from = (const u64 *)((const char *)full + rate->knob);
		u64 *to = (u64 *)((char *)live + rate->knob);

		*to = rate->most ? raised(*from, level, rate->most) : lowered(*from, level);
	}
}

static void describe_rates(const struct throttle *throttle, unsigned int level, bool is_back,
			   char *ret_text, size_t size)
{
	u64 min_block_us = throttle->live->min_block_ns / 1000;
	int used = snprintf(ret_text, size, "rates %s", is_back ? "restored" : "thinned");

	if (level)
		used += snprintf(ret_text + used, size - (size_t)used, " to 1/%u", 1U << level);
	if (throttle->freq)
		used += snprintf(ret_text + used, size - (size_t)used, ", %.3g samples/s per CPU",
				 (double)throttle->freq / (double)throttle->live->tick_one_in);
	if (throttle->live->block_stacks)
		snprintf(ret_text + used, size - (size_t)used, ", waits from %llu %s on",
			 (unsigned long long)(min_block_us % 1000 ? min_block_us
								  : min_block_us / 1000),
			 min_block_us % 1000 ? "us" : "ms");
}

static u64 ticks_of(u32 freq, unsigned int level)
{
	u64 one_in = 1ULL << level, most = freq / FREQ_LEAST;

	return one_in < most ? one_in : most > 1 ? most : 1;
}

/* Each with its weight: a sample stands for what was left out, at the rate of that moment. */
static int set_rates(struct throttle *throttle, bool is_back, struct throttle_step *step)
{
	unsigned int level = throttle->governor.levels[GOVERNOR_RATES].now;
	struct live_config *live = throttle->live;

	live->tick_one_in = ticks_of(throttle->freq, level);
	for (int id = 1; id < SIGNAL_LIMIT; id++)
		turn_knobs(signal_rows[id].signal, &throttle->full, live, level);
	describe_rates(throttle, level, is_back, step->what, sizeof(step->what));
	coverage_thin(&throttle->coverage, THROTTLE_STACKS, live->tick_one_in);
	coverage_thin(&throttle->coverage, THROTTLE_WAIT_STACKS, 1ULL << level);
	coverage_thin(&throttle->coverage, THROTTLE_SLOW, 1ULL << level);
	for (int id = 1; id < SIGNAL_LIMIT; id++)
		if (signal_rows[id].signal && signal_rows[id].signal->rate_count)
			coverage_thin(&throttle->coverage, signal_rows[id].name, 1ULL << level);
	return capture_set_live(throttle->capture, live);
}

/* --- probes --- */

static bool goes_first(const struct probe *probe)
{
	return probe->yields_first;
}

static bool goes_last(const struct probe *probe)
{
	return !probe->yields_first;
}

/* Probes that were attached when a file was seen are remembered for a signal that has others. */
static bool can_come_back(const struct throttle *throttle, const struct signal *signal)
{
	if (signal->deferred && signal->deferred->is_part)
		return true;
	for (size_t i = 0; i < throttle->probe_count; i++)
		if (throttle->probes[i].is_deferred && throttle_is_of(signal, &throttle->probes[i]))
			return false;
	return true;
}

/* --- signals --- */

/* What the programs of each part cost, in the time of a reading. */
struct costs {
	double signals[SIGNAL_LIMIT]; /* of those that are on; hooks shared with Tier B are Tier B's
				       */
	double split, samples, wait_stacks;
};

static void add_cost(const struct throttle *throttle, const struct probe *probe, double ns,
		     struct costs *costs)
{
	if (throttle_has_role(ROLE_SPLIT, probe))
		costs->split += ns;
	if (throttle_has_role(ROLE_STACKS, probe))
		*(goes_first(probe) ? &costs->wait_stacks : &costs->samples) += ns;
	for (int id = 1; id < SIGNAL_LIMIT; id++)
		if (throttle->signals >> id & 1 && throttle_is_of(signal_rows[id].signal, probe))
			costs->signals[id] += ns;
}

/* The kernel's clock was on for a part of the time only: each has its share of the reading's. */
static void read_costs(struct throttle *throttle, const struct governor_reading *reading,
		       struct costs *ret_costs)
{
	double since[CAPTURE_PROBES_MAX], all = 0;

	*ret_costs = (struct costs){0};
	for (size_t i = 0; i < throttle->probe_count; i++) {
		struct probe_cost cost;

		cost_read_probe(throttle->capture, i, &cost);
		since[i] = throttle->probes[i].kind == PROBE_ITER
				   ? 0
				   : (double)(cost.ns - throttle->told_ns[i]);
		throttle->told_ns[i] = cost.ns;
		all += since[i];
	}
	for (size_t i = 0; i < throttle->probe_count && all > 0; i++)
		add_cost(throttle, &throttle->probes[i], since[i] / all * (double)reading->bpf_ns,
			 ret_costs);
}

/* Only what costs something is switched off: the rest would be lost for nothing. */
static void count_worthy(struct throttle *throttle, const struct governor_reading *reading,
			 const struct costs *costs)
{
	struct governor_level *levels = throttle->governor.levels;
	double worth_ns = throttle->governor.limit * (double)reading->elapsed_ns * reading->cpus /
			  THROTTLE_WORTH_ONE_IN;

	throttle->worth_ns = (u64)worth_ns;
	levels[GOVERNOR_SIGNALS].most = levels[GOVERNOR_SIGNALS].now;
	for (int id = 1; id < SIGNAL_LIMIT; id++)
		levels[GOVERNOR_SIGNALS].most += costs->signals[id] > worth_ns;
	if (throttle->has_split)
		levels[GOVERNOR_SPLIT].most = throttle->is_split_off || costs->split <= worth_ns
						      ? levels[GOVERNOR_SPLIT].now
						      : SPLIT_OFF_MAX;
	if (throttle->has_stacks)
		levels[GOVERNOR_STACKS].most =
			levels[GOVERNOR_STACKS].now +
			(costs->samples > worth_ns ||
			 (costs->wait_stacks > worth_ns && !levels[GOVERNOR_STACKS].now));
}

void throttle_lose_signal(struct throttle *throttle, int id)
{
	if (!(throttle->signals >> id & 1))
		return;
	throttle->signals &= ~(1ULL << id);
	throttle_note(throttle, signal_rows[id].name, false);
}

static int signal_off(struct throttle *throttle, const double ns[SIGNAL_LIMIT],
		      struct throttle_step *step)
{
	int most = 0;

	for (int id = 1; id < SIGNAL_LIMIT; id++)
		if (throttle->signals >> id & 1 && (!most || ns[id] > ns[most]))
			most = id;
	if (!most)
		return -ENOENT;
	snprintf(step->what, sizeof(step->what), "signal %s off", signal_rows[most].name);
	throttle_detach(throttle, signal_rows[most].signal);
	if (can_come_back(throttle, signal_rows[most].signal)) {
		throttle->signals_off[throttle->signals_off_count++] = (u8)most;
		throttle->signal_off_ns[most] = clock_now_ns();
		throttle->signals &= ~(1ULL << most);
		throttle->live->signals_off |= 1ULL << most;
		capture_set_live(throttle->capture, throttle->live);
		throttle_note(throttle, signal_rows[most].name, false);
	} else {
		throttle->governor.levels[GOVERNOR_SIGNALS].now--;
		throttle_lose_signal(throttle, most);
	}
	return 0;
}

/* A start from before must be forgotten, or it would be matched with the end of another event. */
static bool is_restorable(const struct throttle *throttle, int id)
{
	u64 forget_ns = throttle->pair_limit_ns ? throttle->pair_limit_ns : FORGET_NS;

	return clock_now_ns() - throttle->signal_off_ns[id] >= forget_ns &&
	       !(throttle->is_split_off && signal_rows[id].signal->view->needs_split);
}

static int signal_on(struct throttle *throttle, struct throttle_step *step)
{
	for (size_t i = throttle->signals_off_count; i-- > 0;) {
		int id = throttle->signals_off[i], err;

		if (!is_restorable(throttle, id))
			continue;
		snprintf(step->what, sizeof(step->what), "signal %s on", signal_rows[id].name);
		throttle->live->signals_off &= ~(1ULL << id);
		capture_set_live(throttle->capture, throttle->live);
		err = throttle_attach(throttle, signal_rows[id].signal);
		if (err)
			return err;
		throttle->signals_off_count--;
		memmove(&throttle->signals_off[i], &throttle->signals_off[i + 1],
			throttle->signals_off_count - i);
		throttle->signals |= 1ULL << id;
		throttle_note(throttle, signal_rows[id].name, true);
		return 0;
	}
	return -EAGAIN;
}

/* --- orders --- */

static int set_detail(struct throttle *throttle, bool is_on, struct throttle_step *step)
{
	snprintf(step->what, sizeof(step->what), "detail %s", is_on ? "on" : "off");
	throttle->live->no_detail = !is_on;
	throttle_note(throttle, THROTTLE_DETAIL, is_on);
	return capture_set_live(throttle->capture, throttle->live);
}

/*
 * Those of waits first: their programs run at each switch, also if no stack is taken. Samples of
 * the clock come at a fixed rate, and are switched off only if even that is too much.
 */
static int set_stacks(struct throttle *throttle, bool is_on, struct throttle_step *step)
{
	unsigned int now = throttle->governor.levels[GOVERNOR_STACKS].now;
	bool is_of_waits = is_on ? now == 0 : now == 1;
	const struct probe_choice choice = {
		.role = ROLE_STACKS,
		.has = is_of_waits ? goes_first : goes_last,
	};
	int err = 0;

	snprintf(step->what, sizeof(step->what), "%s %s",
		 is_of_waits ? "stacks of waits" : "samples", is_on ? "on" : "off");
	if (is_on)
		err = throttle_attach_chosen(throttle, &choice);
	else
		throttle_detach_chosen(throttle, &choice);
	if (!err)
		throttle_note(throttle, is_of_waits ? THROTTLE_WAIT_STACKS : THROTTLE_STACKS,
			      is_on);
	return err;
}

static int carry_out(struct throttle *throttle, const struct governor_order *order,
		     const struct costs *costs, struct throttle_step *step)
{
	bool is_back = order->move == GOVERNOR_RESTORE;

	if (order->move == GOVERNOR_STAY)
		return 0;
	if (order->move == GOVERNOR_DETACH) {
		snprintf(step->what, sizeof(step->what), "detached: the measurement ends here");
		return 0;
	}
	switch (order->rung) {
	case GOVERNOR_RATES:
		return set_rates(throttle, is_back, step);
	case GOVERNOR_DETAIL:
		return set_detail(throttle, is_back, step);
	case GOVERNOR_SIGNALS:
		return is_back ? signal_on(throttle, step)
			       : signal_off(throttle, costs->signals, step);
	case GOVERNOR_SPLIT:
		return is_back ? throttle_split_on(throttle, step)
			       : throttle_split_off(throttle, step);
	case GOVERNOR_STACKS:
		return set_stacks(throttle, is_back, step);
	case GOVERNOR_RUNG_COUNT:
		break;
	}
	return -EINVAL;
}

/* Rates are thinned before the limit is reached: then it says from where on. */
static void say_why(const struct throttle *throttle, const struct governor_reading *reading,
		    enum governor_move move, struct throttle_step *ret_step)
{
	double share = governor_share(reading), limit = throttle->governor.limit;
	int used = snprintf(ret_step->why, sizeof(ret_step->why),
			    "cost %.3g %% of %u CPUs, allowed %.3g %%", 100 * share, reading->cpus,
			    100 * limit);

	if (move == GOVERNOR_REDUCE && share <= limit)
		snprintf(ret_step->why + used, sizeof(ret_step->why) - (size_t)used,
			 ", thinned from %.3g %% on", 100 * GOVERNOR_THIN_SHARE * limit);
}

/* 0; -EAGAIN or -ENODATA: there was nothing to do; other -errno, told. */
static int obey(struct throttle *throttle, const struct governor_reading *reading,
		const struct governor_order *order, const struct costs *costs,
		struct throttle_step *ret_step)
{
	int err;

	say_why(throttle, reading, order->move, ret_step);
	err = carry_out(throttle, order, costs, ret_step);
	/* -ENODATA: it is as ordered already. */
	if (err && err != -ENODATA)
		governor_refuse(&throttle->governor, order);
	if (err && err != -EAGAIN && err != -ENODATA)
		log_error("cannot hold --max-overhead with this step (%s): %s; trying the next one",
			  ret_step->what, strerror(-err));
	return err;
}

enum governor_move throttle_judge(struct throttle *throttle, const struct governor_reading *reading,
				  struct throttle_step *ret_step)
{
	struct governor_order order;
	struct costs costs;
	int err;

	read_costs(throttle, reading, &costs);
	count_worthy(throttle, reading, &costs);
	throttle_split_settle(throttle);
	governor_judge(&throttle->governor, reading, &order);
	err = obey(throttle, reading, &order, &costs, ret_step);
	heavy_hitters_clear(&throttle->calls);
	return err ? GOVERNOR_STAY : order.move;
}

bool throttle_restore_more(struct throttle *throttle, const struct governor_reading *reading,
			   struct throttle_step *ret_step)
{
	const struct costs costs = {0}; /* of no concern where nothing is switched off */
	struct governor_order order;

	while (governor_restore_more(&throttle->governor, &order))
		if (!obey(throttle, reading, &order, &costs, ret_step))
			return true;
	return false;
}

bool throttle_is_alert(const struct throttle *throttle)
{
	return throttle->governor.is_alert;
}
