// SPDX-License-Identifier: Apache-2.0
/* Tier B, taken from the processes that cost most by it, or from all, and given back. */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "../base/text.h"
#include "../model/signal.h"
#include "brake.h"

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

/* What the map split_off and the knob no_split say becomes so for threads that there are. */
static int turn_threads(struct brake *brake)
{
	int err = capture_set_live(brake->capture, brake->live);

	for (size_t i = 0; i < brake->probe_count && !err; i++)
		if (!strcmp(brake->probes[i].program, "calls_turn"))
			return capture_run_iter(brake->capture, i);
	return err ? err : -ENOENT;
}

static void name_split_part(const char *process, char ret_name[COVERAGE_NAME_BYTES])
{
	snprintf(ret_name, COVERAGE_NAME_BYTES, BRAKE_SPLIT " %s", process);
}

static int split_off_one(struct brake *brake, u32 tgid, struct brake_step *step)
{
	char *name = brake->split_names[brake->split_off_count];
	char part[COVERAGE_NAME_BYTES];
	int err = capture_split_off(brake->capture, tgid);

	if (!err)
		err = turn_threads(brake);
	if (err)
		return err;
	describe_process(tgid, name, sizeof(brake->split_names[0]));
	brake->split_off[brake->split_off_count++] = tgid;
	snprintf(step->what, sizeof(step->what), "Tier B off for %s", name);
	name_split_part(name, part);
	brake_note(brake, part, false);
	return 0;
}

/* Whoever comes later is not let in either; then nobody needs the hooks. */
static int split_off_all(struct brake *brake, struct brake_step *step)
{
	int err;

	snprintf(step->what, sizeof(step->what), "Tier B off");
	brake->live->no_split = 1;
	err = turn_threads(brake);
	if (err)
		return err;
	brake->is_split_off = brake->are_hooks_useless = true;
	brake_note(brake, BRAKE_SPLIT, false);
	return 0;
}

static bool is_worth_a_step(const struct brake *brake, const struct tally_entry *most)
{
	return most && most->tgid && most->count > brake->calls.total / BRAKE_WORTH_ONE_IN &&
	       most->count * CALL_NS > brake->worth_ns &&
	       brake->split_off_count < SPLIT_OFF_MAX - 1;
}

/* The most expensive process, while there is one that stands out; after that all that are left. */
int brake_split_off(struct brake *brake, struct brake_step *step)
{
	const struct tally_entry *most = tally_most(&brake->calls);
	char why[80];

	if (is_worth_a_step(brake, most) && !split_off_one(brake, most->tgid, step)) {
		snprintf(why, sizeof(why), "; it made %llu of %llu system calls",
			 (unsigned long long)most->count, (unsigned long long)brake->calls.total);
		strncat(step->why, why, sizeof(step->why) - strlen(step->why) - 1);
		return 0;
	}
	return split_off_all(brake, step);
}

/*
 * One window after the threads left Tier B: by then each that makes system calls has seen it, and
 * what they counted up to there was read.
 */
void brake_split_settle(struct brake *brake)
{
	if (!brake->are_hooks_useless)
		return;
	brake_detach(brake, &signal_calls);
	brake->are_hooks_useless = false;
	brake->are_hooks_off = true;
}

static int split_on_all(struct brake *brake, struct brake_step *step)
{
	int err = brake->are_hooks_off ? brake_attach(brake, &signal_calls) : 0;

	snprintf(step->what, sizeof(step->what), "Tier B on");
	if (err)
		return err;
	brake->are_hooks_off = brake->are_hooks_useless = false;
	brake->live->no_split = 0;
	err = turn_threads(brake);
	if (err)
		return err;
	brake->is_split_off = false;
	brake_note(brake, BRAKE_SPLIT, true);
	return 0;
}

/* Nobody would see a step for them; their numbers may be another's by and by. */
static void forget_dead(struct brake *brake)
{
	while (brake->split_off_count) {
		u32 tgid = brake->split_off[brake->split_off_count - 1];

		if (!kill((pid_t)tgid, 0) || errno != ESRCH)
			return;
		capture_split_on(brake->capture, tgid);
		brake->split_off_count--;
	}
}

static int split_on_one(struct brake *brake, struct brake_step *step)
{
	size_t last = brake->split_off_count - 1;
	char part[COVERAGE_NAME_BYTES];
	int err = capture_split_on(brake->capture, brake->split_off[last]);

	snprintf(step->what, sizeof(step->what), "Tier B on for %s", brake->split_names[last]);
	if (!err)
		err = turn_threads(brake);
	if (err)
		return err;
	name_split_part(brake->split_names[last], part);
	brake_note(brake, part, true);
	brake->split_off_count--;
	return 0;
}

int brake_split_on(struct brake *brake, struct brake_step *step)
{
	struct governor_level *level = &brake->governor.levels[GOVERNOR_SPLIT];

	if (brake->is_split_off)
		return split_on_all(brake, step);
	forget_dead(brake);
	level->now = (unsigned int)brake->split_off_count;
	if (!level->now)
		return -ENODATA;
	level->now--;
	return split_on_one(brake, step);
}
