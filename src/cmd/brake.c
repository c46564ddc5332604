// SPDX-License-Identifier: Apache-2.0
#include "brake.h"

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

void brake_row(void *context, const struct rec_hdr *row)
{
	struct brake *brake = context;
	const struct rec_calls *calls = (const struct rec_calls *)row;

	if (row->type == SIG_CALLS && row->size == sizeof(*calls))
		tally_add(&brake->calls, row->tgid, calls->recent);
}

/* --- what there is --- */

void brake_open(struct brake *brake, bool has_stacks, bool has_split, bool has_rates)
{
	struct governor_level *levels = brake->governor.levels;

	brake->full = *brake->live;
	levels[GOVERNOR_RATES].most = has_rates ? GOVERNOR_RATES_MOST : 0;
	levels[GOVERNOR_DETAIL].most = 1;
	brake->has_stacks = has_stacks;
	brake->has_split = has_split;
	coverage_add(&brake->coverage, BRAKE_DETAIL);
	if (has_stacks)
		coverage_add(&brake->coverage, BRAKE_STACKS);
	if (has_stacks && brake->live->block_stacks)
		coverage_add(&brake->coverage, BRAKE_WAIT_STACKS);
	if (has_split)
		coverage_add(&brake->coverage, BRAKE_SPLIT);
	if (brake->signals && brake->live->slow_ns)
		coverage_add(&brake->coverage, BRAKE_SLOW);
	for (int id = 1; id < SIGNAL_LIMIT; id++)
		if (brake->signals >> id & 1)
			coverage_add(&brake->coverage, signal_rows[id].name);
}

void brake_note(struct brake *brake, const char *part, bool is_on)
{
	coverage_switch(&brake->coverage, part, is_on, clock_now_ns());
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

static void describe_rates(const struct brake *brake, unsigned int level, bool is_back,
			   char *ret_text, size_t size)
{
	u64 min_block_us = brake->live->min_block_ns / 1000;
	int used = snprintf(ret_text, size, "rates %s", is_back ? "restored" : "thinned");

	if (level)
		used += snprintf(ret_text + used, size - (size_t)used, " to 1/%u", 1U << level);
	if (brake->freq)
		used += snprintf(ret_text + used, size - (size_t)used, ", %.3g samples/s per CPU",
				 (double)brake->freq / (double)brake->live->tick_one_in);
	if (brake->live->block_stacks)
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
static int set_rates(struct brake *brake, bool is_back, struct brake_step *step)
{
	unsigned int level = brake->governor.levels[GOVERNOR_RATES].now;
	const struct live_config *full = &brake->full;
	struct live_config *live = brake->live;

	live->tick_one_in = ticks_of(brake->freq, level);
	live->block_stacks = lowered(full->block_stacks, level);
	live->min_block_ns = raised(full->min_block_ns, level, 1000 * NS_PER_S);
	live->slow_budget = lowered(full->slow_budget, level);
	live->stack_one_in = raised(full->stack_one_in, level, 1000000);
	live->alloc_interval = raised(full->alloc_interval, level, 1ULL << 40);
	live->alloc_budget = lowered(full->alloc_budget, level);
	describe_rates(brake, level, is_back, step->what, sizeof(step->what));
	coverage_thin(&brake->coverage, BRAKE_STACKS, live->tick_one_in);
	coverage_thin(&brake->coverage, BRAKE_WAIT_STACKS, 1ULL << level);
	coverage_thin(&brake->coverage, BRAKE_SLOW, 1ULL << level);
	coverage_thin(&brake->coverage, signal_rows[SIG_ALLOC].name, 1ULL << level);
	return capture_set_live(brake->capture, live);
}

/* --- probes --- */

static bool is_of(const struct signal *signal, const struct probe *probe)
{
	if (probe->owner && signal == signal_rows[probe->owner].signal)
		return true;
	for (size_t i = 0; i < signal->probe_count; i++)
		if (!strcmp(probe->program, signal->probes[i].program))
			return true;
	return false;
}

static bool has_wait_stacks(const struct probe *probe)
{
	return probe->kind != PROBE_PERF && !probe->is_rare;
}

static bool has_samples(const struct probe *probe)
{
	return !has_wait_stacks(probe);
}

/* The probes of a signal, or some of them. */
struct probe_choice {
	const struct signal *signal;
	bool (*has)(const struct probe *probe); /* NULL: all */
};

static bool is_chosen(const struct probe_choice *choice, const struct probe *probe)
{
	return probe->kind != PROBE_ITER && is_of(choice->signal, probe) &&
	       (!choice->has || choice->has(probe));
}

/* The last first, as capture_detach() does. */
static void detach_chosen(struct brake *brake, const struct probe_choice *choice)
{
	for (size_t i = brake->probe_count; i-- > 0;)
		if (is_chosen(choice, &brake->probes[i]))
			capture_detach_probe(brake->capture, i);
}

/* Until all are back, nothing begins whose end would not be seen. */
static int attach_chosen(struct brake *brake, const struct probe_choice *choice)
{
	int err = 0;

	brake->live->is_partial = 1;
	capture_set_live(brake->capture, brake->live);
	for (size_t i = 0; i < brake->probe_count && !err; i++)
		if (is_chosen(choice, &brake->probes[i]))
			err = capture_attach_again(brake->capture, i);
	if (err)
		detach_chosen(brake, choice);
	brake->live->is_partial = 0;
	capture_set_live(brake->capture, brake->live);
	return err;
}

void brake_detach(struct brake *brake, const struct signal *signal)
{
	detach_chosen(brake, &(struct probe_choice){.signal = signal});
}

int brake_attach(struct brake *brake, const struct signal *signal)
{
	return attach_chosen(brake, &(struct probe_choice){.signal = signal});
}

/* Probes that were attached when a file was seen are not remembered. */
static bool can_come_back(const struct brake *brake, const struct signal *signal)
{
	for (size_t i = 0; i < brake->probe_count; i++)
		if (brake->probes[i].is_late && is_of(signal, &brake->probes[i]))
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

static void add_cost(const struct brake *brake, const struct probe *probe, double ns,
		     struct costs *costs)
{
	if (is_of(&signal_calls, probe))
		costs->split += ns;
	if (is_of(&signal_sample, probe))
		*(has_wait_stacks(probe) ? &costs->wait_stacks : &costs->samples) += ns;
	for (int id = 1; id < SIGNAL_LIMIT; id++)
		if (brake->signals >> id & 1 && is_of(signal_rows[id].signal, probe))
			costs->signals[id] += ns;
}

/* The kernel's clock was on for a part of the time only: each has its share of the reading's. */
static void read_costs(struct brake *brake, const struct governor_reading *reading,
		       struct costs *ret_costs)
{
	double since[CAPTURE_PROBES_MAX], all = 0;

	*ret_costs = (struct costs){0};
	for (size_t i = 0; i < brake->probe_count; i++) {
		struct probe_cost cost;

		cost_read_probe(brake->capture, i, &cost);
		since[i] = brake->probes[i].kind == PROBE_ITER
				   ? 0
				   : (double)(cost.ns - brake->told_ns[i]);
		brake->told_ns[i] = cost.ns;
		all += since[i];
	}
	for (size_t i = 0; i < brake->probe_count && all > 0; i++)
		add_cost(brake, &brake->probes[i], since[i] / all * (double)reading->bpf_ns,
			 ret_costs);
}

/* Only what costs something is switched off: the rest would be lost for nothing. */
static void count_worthy(struct brake *brake, const struct governor_reading *reading,
			 const struct costs *costs)
{
	struct governor_level *levels = brake->governor.levels;
	double worth_ns = brake->governor.limit * (double)reading->elapsed_ns * reading->cpus /
			  BRAKE_WORTH_ONE_IN;

	brake->worth_ns = (u64)worth_ns;
	levels[GOVERNOR_SIGNALS].most = levels[GOVERNOR_SIGNALS].now;
	for (int id = 1; id < SIGNAL_LIMIT; id++)
		levels[GOVERNOR_SIGNALS].most += costs->signals[id] > worth_ns;
	if (brake->has_split)
		levels[GOVERNOR_SPLIT].most = brake->is_split_off || costs->split <= worth_ns
						      ? levels[GOVERNOR_SPLIT].now
						      : SPLIT_OFF_MAX;
	if (brake->has_stacks)
		levels[GOVERNOR_STACKS].most =
			levels[GOVERNOR_STACKS].now +
			(costs->samples > worth_ns ||
			 (costs->wait_stacks > worth_ns && !levels[GOVERNOR_STACKS].now));
}

void brake_lose_signal(struct brake *brake, int id)
{
	if (!(brake->signals >> id & 1))
		return;
	brake->signals &= ~(1ULL << id);
	brake_note(brake, signal_rows[id].name, false);
}

static int signal_off(struct brake *brake, const double ns[SIGNAL_LIMIT], struct brake_step *step)
{
	int most = 0;

	for (int id = 1; id < SIGNAL_LIMIT; id++)
		if (brake->signals >> id & 1 && (!most || ns[id] > ns[most]))
			most = id;
	if (!most)
		return -ENOENT;
	snprintf(step->what, sizeof(step->what), "signal %s off", signal_rows[most].name);
	brake_detach(brake, signal_rows[most].signal);
	if (can_come_back(brake, signal_rows[most].signal)) {
		brake->signals_off[brake->signals_off_count++] = (u8)most;
		brake->signal_off_ns[most] = clock_now_ns();
		brake->signals &= ~(1ULL << most);
		brake_note(brake, signal_rows[most].name, false);
	} else {
		brake->governor.levels[GOVERNOR_SIGNALS].now--;
		brake_lose_signal(brake, most);
	}
	return 0;
}

/* A start from before must be forgotten, or it would be matched with the end of another event. */
static bool is_restorable(const struct brake *brake, int id)
{
	u64 forget_ns = brake->pair_limit_ns ? brake->pair_limit_ns : FORGET_NS;

	return clock_now_ns() - brake->signal_off_ns[id] >= forget_ns &&
	       !(brake->is_split_off && signal_rows[id].signal->view->needs_split);
}

static int signal_on(struct brake *brake, struct brake_step *step)
{
	for (size_t i = brake->signals_off_count; i-- > 0;) {
		int id = brake->signals_off[i], err;

		if (!is_restorable(brake, id))
			continue;
		snprintf(step->what, sizeof(step->what), "signal %s on", signal_rows[id].name);
		err = brake_attach(brake, signal_rows[id].signal);
		if (err)
			return err;
		brake->signals_off_count--;
		memmove(&brake->signals_off[i], &brake->signals_off[i + 1],
			brake->signals_off_count - i);
		brake->signals |= 1ULL << id;
		brake_note(brake, signal_rows[id].name, true);
		return 0;
	}
	return -EAGAIN;
}

/* --- orders --- */

static int set_detail(struct brake *brake, bool is_on, struct brake_step *step)
{
	snprintf(step->what, sizeof(step->what), "detail %s", is_on ? "on" : "off");
	brake->live->no_detail = !is_on;
	brake_note(brake, BRAKE_DETAIL, is_on);
	return capture_set_live(brake->capture, brake->live);
}

/*
 * Those of waits first: their programs run at each switch, also if no stack is taken. Samples of
 * the clock come at a fixed rate, and are switched off only if even that is too much.
 */
static int set_stacks(struct brake *brake, bool is_on, struct brake_step *step)
{
	unsigned int now = brake->governor.levels[GOVERNOR_STACKS].now;
	bool is_of_waits = is_on ? now == 0 : now == 1;
	const struct probe_choice choice = {
		.signal = &signal_sample,
		.has = is_of_waits ? has_wait_stacks : has_samples,
	};
	int err = 0;

	snprintf(step->what, sizeof(step->what), "%s %s",
		 is_of_waits ? "stacks of waits" : "samples", is_on ? "on" : "off");
	if (is_on)
		err = attach_chosen(brake, &choice);
	else
		detach_chosen(brake, &choice);
	if (!err)
		brake_note(brake, is_of_waits ? BRAKE_WAIT_STACKS : BRAKE_STACKS, is_on);
	return err;
}

static int carry_out(struct brake *brake, const struct governor_order *order,
		     const struct costs *costs, struct brake_step *step)
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
		return set_rates(brake, is_back, step);
	case GOVERNOR_DETAIL:
		return set_detail(brake, is_back, step);
	case GOVERNOR_SIGNALS:
		return is_back ? signal_on(brake, step) : signal_off(brake, costs->signals, step);
	case GOVERNOR_SPLIT:
		return is_back ? brake_split_on(brake, step) : brake_split_off(brake, step);
	case GOVERNOR_STACKS:
		return set_stacks(brake, is_back, step);
	case GOVERNOR_RUNG_COUNT:
		break;
	}
	return -EINVAL;
}

enum governor_move brake_judge(struct brake *brake, const struct governor_reading *reading,
			       struct brake_step *ret_step)
{
	struct governor_order order;
	struct costs costs;
	int err;

	read_costs(brake, reading, &costs);
	count_worthy(brake, reading, &costs);
	brake_split_settle(brake);
	governor_judge(&brake->governor, reading, &order);
	snprintf(ret_step->why, sizeof(ret_step->why), "cost %.3g %% of %u CPUs, allowed %.3g %%",
		 100 * governor_share(reading), reading->cpus, 100 * brake->governor.limit);
	err = carry_out(brake, &order, &costs, ret_step);
	/* -ENODATA: it is as ordered already. */
	if (err && err != -ENODATA)
		governor_refuse(&brake->governor, &order);
	if (err && err != -EAGAIN && err != -ENODATA)
		log_error("cannot hold --max-overhead with this step (%s): %s; trying the next one",
			  ret_step->what, strerror(-err));
	tally_clear(&brake->calls);
	return err ? GOVERNOR_STAY : order.move;
}

bool brake_is_alert(const struct brake *brake)
{
	return brake->governor.is_alert;
}
