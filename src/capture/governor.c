// SPDX-License-Identifier: Apache-2.0
#include "governor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One reading may be a burst of the host's; two are a habit, and one that is far above is enough.
 */
#define STRIKES_OFF 2
#define FAR_ABOVE   2.0
/* With nothing left to reduce, that is Tier A alone: so long it may cost too much. */
#define STRIKES_DETACH 10

/* There is room below half the limit, and what is restored may fill it to four fifths. */
#define ROOM_SHARE     0.5
#define MUCH_SHARE     0.2 /* below that there is so much that it is not waited for so long */
#define MUCH_READINGS  8   /* at most */
#define RESTORE_SHARE  0.8
#define PATIENCE_LEAST 2
#define PATIENCE_MOST  32

double governor_share(const struct governor_reading *reading)
{
	double host = (double)reading->elapsed_ns * reading->cpus;

	return host > 0 ? ((double)reading->bpf_ns + (double)reading->user_ns) / host : 0;
}

static double bpf_share(const struct governor_reading *reading)
{
	double host = (double)reading->elapsed_ns * reading->cpus;

	return host > 0 ? (double)reading->bpf_ns / host : 0;
}

static void learn(struct governor *governor, double share)
{
	struct governor_level *level = &governor->levels[governor->watched];

	if (governor->is_watching)
		level->saved = governor->before > share ? governor->before - share : 0;
	governor->is_watching = false;
}

static bool can_reduce(const struct governor *governor, enum governor_rung rung)
{
	return governor->levels[rung].now < governor->levels[rung].most;
}

static void reduce(struct governor *governor, enum governor_rung rung, unsigned int levels,
		   double share, struct governor_order *order)
{
	if (governor->has_restored && governor->patience < PATIENCE_MOST)
		governor->patience *= 2;
	governor->has_restored = false;
	governor->levels[rung].now += levels;
	governor->is_watching = true;
	governor->watched = rung;
	governor->before = share;
	governor->strikes = 0;
	*order = (struct governor_order){GOVERNOR_REDUCE, rung, levels};
}

/* So often it must be halved, if all of it were thinned by that. */
static unsigned int halvings(double share, double limit, unsigned int most)
{
	unsigned int count = 1;

	while (count < most && share > limit * (1 << count))
		count++;
	return count;
}

/*
 * The first reading has what the start costs once, in our own processes: the tables of all programs
 * that run. If only that is above the limit, one level is enough of an answer.
 */
static void hold(struct governor *governor, const struct governor_reading *reading, bool is_first,
		 struct governor_order *order)
{
	const struct governor_level *rates = &governor->levels[GOVERNOR_RATES];
	double share = governor_share(reading);
	unsigned int left = rates->most - rates->now;

	governor->calm = 0;
	governor->strikes++;
	if (can_reduce(governor, GOVERNOR_RATES)) {
		bool is_start = is_first && bpf_share(reading) <= governor->limit;

		reduce(governor, GOVERNOR_RATES,
		       halvings(share, governor->limit, is_start ? 1 : left), share, order);
		return;
	}
	if (governor->strikes < STRIKES_OFF && share < FAR_ABOVE * governor->limit)
		return;
	for (int rung = GOVERNOR_RATES + 1; rung < GOVERNOR_RUNG_COUNT; rung++)
		if (can_reduce(governor, (enum governor_rung)rung)) {
			reduce(governor, (enum governor_rung)rung, 1, share, order);
			return;
		}
	if (governor->strikes >= STRIKES_DETACH)
		order->move = GOVERNOR_DETACH;
}

static bool is_any_reduced(const struct governor *governor)
{
	for (int rung = 0; rung < GOVERNOR_RUNG_COUNT; rung++)
		if (governor->levels[rung].now)
			return true;
	return false;
}

/* Which part fits into the room that there is; what was reduced last comes first. */
static int find_restorable(const struct governor *governor, double share)
{
	for (int rung = GOVERNOR_RUNG_COUNT - 1; rung >= 0; rung--)
		if (governor->levels[rung].now &&
		    share + governor->levels[rung].saved <= RESTORE_SHARE * governor->limit)
			return rung;
	return -1;
}

/* So often it can be doubled, if all of it were thinned by that. */
static unsigned int doublings(double share, double limit, unsigned int most)
{
	unsigned int count = 1;

	while (count < most && share * (2 << count) <= RESTORE_SHARE * limit)
		count++;
	return count;
}

/* What it saved once, it need not save now: the load may be another. */
static void doubt_savings(struct governor *governor, double divisor)
{
	for (int i = 0; i < GOVERNOR_RUNG_COUNT; i++)
		governor->levels[i].saved /= divisor;
}

/* What fits into the room that is left below the limit, if there is anything. */
static void restore_one(struct governor *governor, struct governor_order *order)
{
	int rung = find_restorable(governor, governor->expected);
	unsigned int levels = 1;

	if (rung < 0)
		return;
	if (rung == GOVERNOR_RATES) {
		levels = doublings(governor->expected, governor->limit, governor->levels[rung].now);
		governor->expected *= 1 << levels;
	} else {
		governor->expected += governor->levels[rung].saved;
	}
	governor->levels[rung].now -= levels;
	*order = (struct governor_order){GOVERNOR_RESTORE, (enum governor_rung)rung, levels};
}

static unsigned int calm_of(const struct governor *governor, double share)
{
	unsigned int much = governor->patience / MUCH_READINGS;

	if (share >= MUCH_SHARE * governor->limit)
		return 1;
	return much > PATIENCE_LEAST ? much : PATIENCE_LEAST;
}

/*
 * One step, to see what it costs: if there is still room with the next reading, all the rest that
 * fits. So a load that has ended is answered soon, and one that goes on costs one step each time.
 */
static void restore(struct governor *governor, double share, struct governor_order *order)
{
	governor->strikes = 0;
	if (!is_any_reduced(governor) && governor->patience > PATIENCE_LEAST)
		governor->patience /= 2;
	if (share > ROOM_SHARE * governor->limit) {
		governor->calm = 0;
		return;
	}
	governor->calm += calm_of(governor, share);
	if (governor->calm >= governor->patience) {
		governor->calm = 0;
		governor->restores_all = governor->has_restored;
		governor->expected = share;
		restore_one(governor, order);
		governor->has_restored |= order->move == GOVERNOR_RESTORE;
		if (governor->has_restored)
			governor->calm = governor->patience - 1;
	}
	doubt_savings(governor, share < MUCH_SHARE * governor->limit ? 4 : 2);
}

bool governor_restore_more(struct governor *governor, struct governor_order *ret_order)
{
	*ret_order = (struct governor_order){.move = GOVERNOR_STAY};
	if (governor->restores_all)
		restore_one(governor, ret_order);
	return ret_order->move == GOVERNOR_RESTORE;
}

void governor_judge(struct governor *governor, const struct governor_reading *reading,
		    struct governor_order *ret_order)
{
	double share = governor_share(reading);
	bool is_first = !governor->has_begun;

	*ret_order = (struct governor_order){.move = GOVERNOR_STAY};
	governor->has_begun = true;
	governor->restores_all = false;
	if (governor->limit <= 0)
		return;
	if (!governor->patience)
		governor->patience = PATIENCE_LEAST;
	learn(governor, share);
	/* To thin is cheap and can be undone: so it is done before the limit is passed. */
	if (share > governor->limit ||
	    (share > GOVERNOR_THIN_SHARE * governor->limit && can_reduce(governor, GOVERNOR_RATES)))
		hold(governor, reading, is_first, ret_order);
	else
		restore(governor, share, ret_order);
	governor->is_alert = share > governor->limit || is_any_reduced(governor);
}

void governor_refuse(struct governor *governor, const struct governor_order *order)
{
	struct governor_level *level = &governor->levels[order->rung];

	if (order->move == GOVERNOR_REDUCE) {
		level->now -= order->levels;
		level->most = level->now; /* the next step is another one */
		governor->is_watching = false;
	} else if (order->move == GOVERNOR_RESTORE) {
		level->now += order->levels;
		level->saved = governor->limit; /* not soon again */
	}
}

int governor_parse(const char *text, double *ret_limit)
{
	char *end;
	double percent;

	errno = 0;
	percent = strtod(text, &end);
	end += strspn(end, " ");
	if (*end == '%')
		end++;
	/* Written so that what is not a number fails too. */
	if (errno || end == text || *end || !(percent > 0 && percent <= 100))
		return -EINVAL;
	*ret_limit = percent / 100;
	return 0;
}
