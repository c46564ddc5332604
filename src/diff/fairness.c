// SPDX-License-Identifier: Apache-2.0
/*
 * Was the same measured in the same way? What would mislead is refused unless --force is given;
 * what a reader has to know is a warning.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "diff.h"
#include "judge.h"

#define INCOMPLETE_APART 0.05 /* shares of incomplete stacks differ by more */
#define INCOMPLETE_MUCH	 0.20
#define OTHERS_APART	 0.05 /* of all CPUs */
#define OTHERS_MUCH	 0.50 /* CPUs are full: how many wait for them, the share does not tell */
#define DURATIONS_APART	 3.0
#define STOLEN_MUCH	 0.03 /* of the time that CPUs were busy, by the hypervisor */
#define BUILDS_NAMED	 3
#define COVERED_LITTLE	 0.99

static void __attribute__((format(printf, 3, 4)))
warn(struct diff *diff, bool is_refusal, const char *format, ...)
{
	struct diff_warning *warning;
	va_list args;

	diff->is_refused |= is_refusal;
	if (diff->warning_count == DIFF_WARNINGS_MAX)
		return;
	warning = &diff->warnings[diff->warning_count++];
	warning->is_refusal = is_refusal;
	va_start(args, format);
	vsnprintf(warning->text, sizeof(warning->text), format, args);
	va_end(args);
}

#define NUMBER_BYTES 24

/* Of a run, what should be the same in all of them. */
struct run_fact {
	size_t at;
	const char *what;
	bool is_number; /* u64; else a text */
	bool is_refusal;
};

static const char *fact_of(const struct diff_run *run, const struct run_fact *fact, char *buf)
{
	const char *place = (const char *)run + fact->at;
	u64 number;

	if (!fact->is_number)
		return *place ? place : "none";
	memcpy(&number, place, sizeof(number));
	snprintf(buf, NUMBER_BYTES, "%" PRIu64, (uint64_t)number);
	return buf;
}

/* "a.dwell has ..., b.dwell has ...": the first run that differs from the first one of all. */
static void compare_run_fact(struct diff *diff, const struct run_fact *fact)
{
	const struct diff_run *first = &diff->runs[0];
	char buf_a[NUMBER_BYTES], buf_b[NUMBER_BYTES];
	const char *a = fact_of(first, fact, buf_a);

	for (size_t r = 1; r < diff->run_count; r++) {
		const struct diff_run *run = &diff->runs[r];
		const char *b = fact_of(run, fact, buf_b);

		if (!strcmp(a, b))
			continue;
		warn(diff, fact->is_refusal, "%s differs: %s has %s, %s has %s", fact->what,
		     first->name, a, run->name, b);
		return;
	}
}

static void compare_run_facts(struct diff *diff)
{
	static const struct run_fact facts[] = {
		{offsetof(struct diff_run, machine), "machine type", false, true},
		{offsetof(struct diff_run, tier), "tier (--tier)", false, true},
		{offsetof(struct diff_run, kind), "command that recorded", false, true},
		{offsetof(struct diff_run, kernel), "kernel", false, false},
		{offsetof(struct diff_run, host), "host", false, false},
		{offsetof(struct diff_run, signals), "signals (-s)", false, false},
		{offsetof(struct diff_run, filter), "target (filter)", false, false},
		{offsetof(struct diff_run, version), "version of dwell", false, false},
		{offsetof(struct diff_run, freq), "sampling rate (Hz)", true, true},
		{offsetof(struct diff_run, cpus), "number of CPUs", true, false},
		{offsetof(struct diff_run, window_ns), "window length (ns)", true, false},
		{offsetof(struct diff_run, min_block_ns), "--min-block (ns)", true, false},
		{offsetof(struct diff_run, thinned), "thinning, one in N at most,", true, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(facts); i++)
		compare_run_fact(diff, &facts[i]);
}

static double incomplete(const struct diff_run *run)
{
	return run->samples ? (double)run->incomplete / (double)run->samples : 0;
}

static double seconds(const struct diff_run *run)
{
	return (double)(run->end_ns - run->begin_ns) / 1e9;
}

static void compare_stacks(struct diff *diff)
{
	double least = 1, most = 0;
	const struct diff_run *worst = NULL;

	for (size_t r = 0; r < diff->run_count; r++) {
		double share = incomplete(&diff->runs[r]);

		least = share < least ? share : least;
		if (share >= most) {
			most = share;
			worst = &diff->runs[r];
		}
	}
	if (worst && most - least > INCOMPLETE_APART)
		warn(diff, false,
		     "incomplete stacks: %.0f %% of the samples in %s, %.0f %% in another session; "
		     "totals of functions are too low there",
		     100 * most, worst->name, 100 * least);
	else if (worst && most > INCOMPLETE_MUCH)
		warn(diff, false,
		     "incomplete stacks: %.0f %% of the samples in %s; totals of functions are too "
		     "low",
		     100 * most, worst->name);
}

static void look_at_each(struct diff *diff)
{
	for (size_t r = 0; r < diff->run_count; r++) {
		const struct diff_run *run = &diff->runs[r];

		if (run->losses)
			warn(diff, false, "%s lost %" PRIu64 " events; 'dwell report' lists them",
			     run->name, (uint64_t)run->losses);
		if (run->steps || run->least_covered < COVERED_LITTLE)
			warn(diff, false,
			     "%s was thinned to hold --max-overhead: %" PRIu64
			     " steps, the least covered part was on for %.0f %% of the time",
			     run->name, (uint64_t)run->steps, 100 * run->least_covered);
		if (!run->ended_ns)
			warn(diff, false, "%s has no end: its writer was killed", run->name);
	}
}

/* CPUs that others use are waited for, and are slower where two share a core. */
static void compare_others(struct diff *diff)
{
	double other[2] = {0}, all[2] = {0}, share[2];

	for (size_t r = 0; r < diff->run_count; r++) {
		other[diff->runs[r].side] += diff->runs[r].other_ns;
		all[diff->runs[r].side] += diff->runs[r].cpus_ns;
	}
	if (all[0] <= 0 || all[1] <= 0)
		return;
	for (int i = 0; i < 2; i++)
		share[i] = other[i] / all[i];
	if (fabs(share[1] - share[0]) <= OTHERS_APART && share[0] <= OTHERS_MUCH &&
	    share[1] <= OTHERS_MUCH)
		return;
	diff->disturbed = DIFF_OTHERS;
	warn(diff, false,
	     "processes that were not measured used %.0f %% of the CPUs in A, %.0f %% in B%s",
	     100 * share[0], 100 * share[1],
	     diff->whole_runs ? ""
			      : ": times are inconclusive unless --force is given, or the whole "
				"host is recorded (-a)");
}

/*
 * Time that the hypervisor takes looks as if the program took it. It takes from CPUs that are busy.
 * It is known of whole sessions.
 */
static void look_at_hypervisor(struct diff *diff)
{
	for (size_t r = 0; r < diff->run_count; r++) {
		const struct diff_run *run = &diff->runs[r];
		double share = run->busy_ns > 0 ? (double)run->steal_ns / run->busy_ns : 0;

		if (share <= STOLEN_MUCH)
			continue;
		diff->disturbed = DIFF_STOLEN;
		warn(diff, false,
		     "during %s CPUs were busy for %.3g s, and the hypervisor took %.3g s%s",
		     run->name, run->busy_ns / 1e9, (double)run->steal_ns / 1e9,
		     diff->whole_runs ? "" : ": times are inconclusive unless --force is given");
	}
}

/* Who shares a core with a virtual machine slows it down, and the guest sees no one. */
static void compare_speeds(struct diff *diff)
{
	const struct diff_speed *speed = &diff->speed;
	char beyond[DIFF_TEXT_BYTES] = "";

	speed_compare(diff, &diff->speed);
	if (speed->rise <= 0 && speed->fall <= 0)
		return;
	/* Between whole runs it is one more thing by which runs differ by themselves. */
	if (!diff_allows_for_speed(diff) && speed->low < 0 && speed->high > 0)
		return;
	if (diff_allows_for_speed(diff))
		snprintf(beyond, sizeof(beyond),
			 "; a time is called changed if it rose by more than %.0f %%, or fell by "
			 "more than %.0f %%",
			 100 * (diff->floor + speed->rise), 100 * (diff->floor + speed->fall));
	warn(diff, false,
	     "the CPUs were %.1f %% %s in B (95 %% interval %+.1f %% to %+.1f %%): a loop that "
	     "always does the same took %.2f us in A, %.2f us in B%s",
	     100 * fabs(speed->slower), speed->slower > 0 ? "slower" : "faster", 100 * speed->low,
	     100 * speed->high, speed->loop_ns[0] / 1e3, speed->loop_ns[1] / 1e3, beyond);
}

static void compare_durations(struct diff *diff)
{
	const struct diff_run *shortest = &diff->runs[0], *longest = &diff->runs[0];

	for (size_t r = 1; r < diff->run_count; r++) {
		if (seconds(&diff->runs[r]) < seconds(shortest))
			shortest = &diff->runs[r];
		if (seconds(&diff->runs[r]) > seconds(longest))
			longest = &diff->runs[r];
	}
	if (seconds(longest) > DURATIONS_APART * seconds(shortest))
		warn(diff, false, "durations differ: %s has %.1f s, %s has %.1f s", shortest->name,
		     seconds(shortest), longest->name, seconds(longest));
}

/* --- builds --- */

static int by_module(const void *a, const void *b)
{
	const struct diff_fact *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return x->build_id < y->build_id ? -1 : x->build_id > y->build_id;
}

/* Has a run this file, and none of this build? */
static bool has_another_build(const struct diff_run *run, const struct diff_fact *fact)
{
	bool has_module = false;

	for (size_t i = 0; i < run->fact_count; i++) {
		if (run->facts[i].module != fact->module)
			continue;
		if (run->facts[i].build_id == fact->build_id)
			return false;
		has_module = true;
	}
	return has_module;
}

static void compare_builds(struct diff *diff)
{
	const struct diff_run *a = &diff->runs[0], *b = NULL;
	size_t differ = 0;

	for (size_t r = 0; r < diff->run_count && !b; r++)
		b = diff->runs[r].side ? &diff->runs[r] : NULL;
	if (!b)
		return;
	if (a->fact_count)
		qsort(a->facts, a->fact_count, sizeof(*a->facts), by_module);
	for (size_t i = 0; i < a->fact_count; i++) {
		if (!has_another_build(b, &a->facts[i]))
			continue;
		if (++differ <= BUILDS_NAMED)
			warn(diff, false, "%s is another build in %s than in %s",
			     diff_text(diff, a->facts[i].module), b->name, a->name);
	}
	if (differ > BUILDS_NAMED)
		warn(diff, false, "%zu more files are of another build", differ - BUILDS_NAMED);
}

/* Which lines there was no room for, and how much they are: these are not tested. */
static void warn_of_no_room(struct diff *diff)
{
	static const char *const lines[DIFF_TABLES] = {
		[DIFF_LEDGER] = "states",
		[DIFF_SERVICE] = "states of services",
		[DIFF_PROCESS] = "states of processes",
		[DIFF_THREAD] = "threads",
		[DIFF_FUNCTION] = "functions",
		[DIFF_STACK] = "stacks",
		[DIFF_CALL] = "system calls of processes",
		[DIFF_COUNT] = "series of signals",
		[DIFF_REQUEST] = "endpoints of requests",
	};

	for (u32 table = 0; table < DIFF_TABLES; table++) {
		double amount = diff->no_room[table];

		if (!lines[table] || amount <= 0)
			continue;
		if (table == DIFF_COUNT || table == DIFF_REQUEST)
			warn(diff, false, "there are too many %s: %.0f events are not compared",
			     lines[table], amount);
		else if (diff->left_out[table])
			warn(diff, false,
			     "of %s the %d largest lines are compared; the other %zu, with %.3f s "
			     "in both sides, are not",
			     lines[table], DIFF_LARGEST, diff->left_out[table], amount / 1e9);
		else
			warn(diff, false,
			     "there are too many %s: %.3f s in both sides are not compared",
			     lines[table], amount / 1e9);
	}
}

void diff_check_fairness(struct diff *diff)
{
	compare_run_facts(diff);
	look_at_each(diff);
	compare_stacks(diff);
	compare_others(diff);
	look_at_hypervisor(diff);
	compare_speeds(diff);
	compare_durations(diff);
	compare_builds(diff);
	warn_of_no_room(diff);
}
