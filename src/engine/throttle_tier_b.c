// SPDX-License-Identifier: Apache-2.0
/* Tier B, taken from the processes that cost most by it, or from all, and given back. */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "../base/text.h"
#include "../model/signal.h"
#include "throttle.h"

/*
 * A process with less of all calls than one in so many is not worth a step of its own; nor is one
 * whose calls cost less than that part of what dwell may cost.
 */
#define CALL_NS 300

/* Its name is its own choice: nothing but letters and the like reach a terminal. */
static void describe_process(u32 tgid, char *ret_text, size_t size)
{
	char path[32], comm[COMM_BYTES + 2];
	int length;

	snprintf(path, sizeof(path), "/proc/%u/comm", tgid);
	length = text_read_file(path, comm, sizeof(comm));
	comm[length > 0 ? length : 0] = '\0';
	comm[strcspn(comm, "\n")] = '\0';
	for (char *c = comm; *c; c++)
		if (!isprint((unsigned char)*c))
			*c = '?';
	snprintf(ret_text, size, "%s (%u)", *comm ? comm : "process", tgid);
}

static const struct probe_choice tier_b = {.role = ROLE_SPLIT};

/* What the map split_off and the knob no_split say becomes so for threads that there are. */
static int turn_threads(struct throttle *throttle)
{
	int err = capture_set_live(throttle->capture, throttle->live);

	for (size_t i = 0; i < throttle->probe_count && !err; i++)
		if (throttle->probes[i].run == RUN_AFTER_SWITCH)
			return capture_run_iter(throttle->capture, i);
	return err ? err : -ENOENT;
}

static void name_split_part(const char *process, char ret_name[COVERAGE_NAME_BYTES])
{
	snprintf(ret_name, COVERAGE_NAME_BYTES, THROTTLE_SPLIT " %s", process);
}

static int split_off_one(struct throttle *throttle, u32 tgid, struct throttle_step *step)
{
	char *name = throttle->split_names[throttle->split_off_count];
	char part[COVERAGE_NAME_BYTES];
	int err = capture_split_off(throttle->capture, tgid);

	if (!err)
		err = turn_threads(throttle);
	if (err)
		return err;
	describe_process(tgid, name, sizeof(throttle->split_names[0]));
	throttle->split_off[throttle->split_off_count++] = tgid;
	snprintf(step->what, sizeof(step->what), "Tier B off for %s", name);
	name_split_part(name, part);
	throttle_note(throttle, part, false);
	return 0;
}

/* Whoever comes later is not let in either; then nobody needs the hooks. */
static int split_off_all(struct throttle *throttle, struct throttle_step *step)
{
	int err;

	snprintf(step->what, sizeof(step->what), "Tier B off");
	throttle->live->no_split = 1;
	err = turn_threads(throttle);
	if (err)
		return err;
	throttle->is_split_off = throttle->are_hooks_useless = true;
	throttle_note(throttle, THROTTLE_SPLIT, false);
	return 0;
}

/* Nobody would see a step for them; their numbers may be another's by and by. */
static void forget_dead(struct throttle *throttle)
{
	size_t kept = 0;

	for (size_t i = 0; i < throttle->split_off_count; i++) {
		u32 tgid = throttle->split_off[i];
		char part[COVERAGE_NAME_BYTES];

		if (!kill((pid_t)tgid, 0) || errno != ESRCH) {
			throttle->split_off[kept] = tgid;
			memmove(throttle->split_names[kept++], throttle->split_names[i],
				sizeof(throttle->split_names[i]));
			continue;
		}
		capture_split_on(throttle->capture, tgid);
		name_split_part(throttle->split_names[i], part);
		coverage_end(&throttle->coverage, part);
	}
	throttle->split_off_count = kept;
}

static bool is_worth_a_step(const struct throttle *throttle, const struct heavy_hitter *most)
{
	return most && most->tgid && most->count > throttle->calls.total / THROTTLE_WORTH_ONE_IN &&
	       most->count * CALL_NS > throttle->worth_ns &&
	       throttle->split_off_count < SPLIT_OFF_MAX - 1;
}

/* The most expensive process, while there is one that stands out; after that all that are left. */
int throttle_split_off(struct throttle *throttle, struct throttle_step *step)
{
	const struct heavy_hitter *most = heavy_hitters_most(&throttle->calls);
	char why[80];

	forget_dead(throttle);
	throttle->governor.levels[GOVERNOR_SPLIT].now = (unsigned int)throttle->split_off_count + 1;
	if (is_worth_a_step(throttle, most) && !split_off_one(throttle, most->tgid, step)) {
		snprintf(why, sizeof(why), "; it made %llu of %llu system calls",
			 (unsigned long long)most->count,
			 (unsigned long long)throttle->calls.total);
		strncat(step->why, why, sizeof(step->why) - strlen(step->why) - 1);
		return 0;
	}
	return split_off_all(throttle, step);
}

/*
 * One window after the threads left Tier B: by then each that makes system calls has seen it, and
 * what they counted up to there was read.
 */
void throttle_split_settle(struct throttle *throttle)
{
	if (!throttle->are_hooks_useless)
		return;
	throttle_detach_chosen(throttle, &tier_b);
	throttle->are_hooks_useless = false;
	throttle->are_hooks_off = true;
}

static int split_on_all(struct throttle *throttle, struct throttle_step *step)
{
	int err = throttle->are_hooks_off ? throttle_attach_chosen(throttle, &tier_b) : 0;

	snprintf(step->what, sizeof(step->what), "Tier B on");
	if (err)
		return err;
	throttle->are_hooks_off = throttle->are_hooks_useless = false;
	throttle->live->no_split = 0;
	err = turn_threads(throttle);
	if (err)
		return err;
	throttle->is_split_off = false;
	throttle_note(throttle, THROTTLE_SPLIT, true);
	return 0;
}

static int split_on_one(struct throttle *throttle, struct throttle_step *step)
{
	size_t last = throttle->split_off_count - 1;
	char part[COVERAGE_NAME_BYTES];
	int err = capture_split_on(throttle->capture, throttle->split_off[last]);

	snprintf(step->what, sizeof(step->what), "Tier B on for %s", throttle->split_names[last]);
	if (!err)
		err = turn_threads(throttle);
	if (err)
		return err;
	name_split_part(throttle->split_names[last], part);
	throttle_note(throttle, part, true);
	throttle->split_off_count--;
	return 0;
}

int throttle_split_on(struct throttle *throttle, struct throttle_step *step)
{
	struct governor_level *level = &throttle->governor.levels[GOVERNOR_SPLIT];

	if (throttle->is_split_off)
		return split_on_all(throttle, step);
	forget_dead(throttle);
	level->now = (unsigned int)throttle->split_off_count;
	if (!level->now)
		return -ENODATA;
	level->now--;
	return split_on_one(throttle, step);
}
