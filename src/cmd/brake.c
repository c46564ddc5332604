// SPDX-License-Identifier: Apache-2.0
#include "brake.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../abi/records.h"
#include "../base/log.h"
#include "../base/text.h"
#include "../capture/cost.h"
#include "../model/signal.h"

/* A process with less of all calls than one in so many is not worth a step of its own. */
#define WORTH_ONE_IN 16

void brake_row(void *context, const struct rec_hdr *row)
{
	struct brake *brake = context;
	const struct rec_calls *calls = (const struct rec_calls *)row;

	if (row->type == SIG_CALLS && row->size == sizeof(*calls))
		tally_add(&brake->calls, row->tgid, calls->recent);
}

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

static int run_stop(struct brake *brake)
{
	for (size_t i = 0; i < brake->probe_count; i++)
		if (!strcmp(brake->probes[i].program, "calls_stop"))
			return capture_run_iter(brake->capture, i);
	return -ENOENT;
}

static int take_out(struct brake *brake, u32 tgid)
{
	int err = capture_split_off(brake->capture, tgid);

	brake->live->split_off_tgid = tgid;
	if (!err)
		err = capture_set_live(brake->capture, brake->live);
	return err ? err : run_stop(brake);
}

/* Whoever comes later is not let in either; then nobody needs the hooks. */
static int take_out_all(struct brake *brake)
{
	int err;

	brake->governor.has_split = false;
	brake->live->no_split = 1;
	err = capture_set_live(brake->capture, brake->live);
	if (!err)
		err = run_stop(brake);
	brake->are_hooks_useless = !err;
	return err;
}

static bool is_of(const struct signal *signal, const struct probe *probe)
{
	if (probe->owner && signal == signal_rows[probe->owner].signal)
		return true;
	for (size_t i = 0; i < signal->probe_count; i++)
		if (!strcmp(probe->program, signal->probes[i].program))
			return true;
	return false;
}

/* The last first, as capture_detach() does. */
static void detach_signal(struct brake *brake, const struct signal *signal)
{
	for (size_t i = brake->probe_count; i-- > 0;)
		if (brake->probes[i].kind != PROBE_ITER && is_of(signal, &brake->probes[i]))
			capture_detach_probe(brake->capture, i);
}

/* What the programs of each signal cost since the last reading; those of one hook that they share
 * with Tier B are Tier B's. */
static void read_signals(struct brake *brake, u64 ret_ns[SIGNAL_LIMIT])
{
	for (size_t i = 0; i < brake->probe_count; i++) {
		struct probe_cost cost;
		u64 ns;

		cost_read_probe(brake->capture, i, &cost);
		ns = cost.ns - brake->told_ns[i];
		brake->told_ns[i] = cost.ns;
		for (int id = 1; id < SIGNAL_LIMIT; id++)
			if (brake->signals >> id & 1 &&
			    is_of(signal_rows[id].signal, &brake->probes[i]))
				ret_ns[id] += ns;
	}
}

static void signal_off(struct brake *brake, const u64 ns[SIGNAL_LIMIT], struct brake_step *step)
{
	int dearest = 0;

	for (int id = 1; id < SIGNAL_LIMIT; id++)
		if (brake->signals >> id & 1 && (!dearest || ns[id] > ns[dearest]))
			dearest = id;
	snprintf(step->what, sizeof(step->what), "signal %s off", signal_rows[dearest].name);
	detach_signal(brake, signal_rows[dearest].signal);
	brake->signals &= ~(1ULL << dearest);
	brake->governor.has_signals = brake->signals != 0;
}

/* The dearest process, while there is one that stands out; after that all that are left. */
static int split_off(struct brake *brake, struct brake_step *step)
{
	const struct tally_entry *most = tally_most(&brake->calls);
	char name[64], why[80];

	if (most && most->tgid && most->count > brake->calls.total / WORTH_ONE_IN &&
	    !take_out(brake, most->tgid)) {
		describe_process(most->tgid, name, sizeof(name));
		snprintf(step->what, sizeof(step->what), "Tier B off for %s", name);
		snprintf(why, sizeof(why), "; it made %llu of %llu system calls",
			 (unsigned long long)most->count, (unsigned long long)brake->calls.total);
		strncat(step->why, why, sizeof(step->why) - strlen(step->why) - 1);
		return 0;
	}
	snprintf(step->what, sizeof(step->what), "Tier B off");
	return take_out_all(brake);
}

/*
 * One window after the threads left Tier B: by then each that makes system calls has seen it, and
 * what they counted up to there was read.
 */
static void detach_hooks(struct brake *brake)
{
	detach_signal(brake, &signal_calls);
	brake->are_hooks_useless = false;
}

static int give_up(struct brake *brake, enum governor_step what, const u64 signal_ns[SIGNAL_LIMIT],
		   struct brake_step *step)
{
	switch (what) {
	case GOVERNOR_SIGNAL_OFF:
		signal_off(brake, signal_ns, step);
		return 0;
	case GOVERNOR_SPLIT_OFF:
		return split_off(brake, step);
	case GOVERNOR_STACKS_OFF:
		snprintf(step->what, sizeof(step->what), "stacks off");
		detach_signal(brake, &signal_sample);
		return 0;
	case GOVERNOR_DETAIL_OFF:
		snprintf(step->what, sizeof(step->what), "detail off");
		brake->live->no_detail = 1;
		return capture_set_live(brake->capture, brake->live);
	case GOVERNOR_DETACH:
		snprintf(step->what, sizeof(step->what), "detached: the measurement ends here");
		return 0;
	case GOVERNOR_STAY:
		break;
	}
	return 0;
}

enum governor_step brake_judge(struct brake *brake, const struct governor_reading *reading,
			       struct brake_step *ret_step)
{
	u64 signal_ns[SIGNAL_LIMIT] = {0};
	enum governor_step what;
	int err;

	read_signals(brake, signal_ns);
	if (brake->are_hooks_useless)
		detach_hooks(brake);
	what = governor_judge(&brake->governor, reading);
	snprintf(ret_step->why, sizeof(ret_step->why), "cost %.3g %% of %u CPUs, allowed %.3g %%",
		 100 * governor_share(reading), reading->cpus, 100 * brake->governor.limit);
	err = give_up(brake, what, signal_ns, ret_step);
	/* The next step will be a larger one. */
	if (err)
		log_error("could not take a step down (%s) to hold --max-overhead: %s",
			  ret_step->what, strerror(-err));
	tally_clear(&brake->calls);
	return err ? GOVERNOR_STAY : what;
}

bool brake_is_alert(const struct brake *brake, enum governor_step step)
{
	return brake->governor.is_alert || step != GOVERNOR_STAY;
}
