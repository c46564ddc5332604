/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Who ran while a thread waited for a CPU, by time. Each CPU keeps its last runs; when a wait in
 * its queue ends, it is laid over them. Compiled for the host too, as ledger.bpf.h is.
 */
#ifndef DWELL_LEDGER_RIVALS_BPF_H
#define DWELL_LEDGER_RIVALS_BPF_H

#include "ledger_task.bpf.h"

#define RUNS_MAX 32 /* of each CPU; a power of two */

/* One stretch of a thread on a CPU, up to the beginning of the next one's. */
struct ledger_run {
	u64 begin_ns;
	u64 task;   /* an address, never to be trusted: it may be another's by now */
	u32 pid;    /* of its process, as the first pid namespace numbers it; 0: idle */
	u32 policy; /* as sched(7) numbers it */
};

/* One who ran during a wait. */
struct ledger_laid {
	u64 task; /* as in ledger_run */
	struct ledger_rival rival;
};

struct ledger_runs {
	u64 count; /* ever; the latest is at (count - 1) % RUNS_MAX, and ended when the next began
		    */
	struct ledger_run runs[RUNS_MAX];
	struct ledger_laid
		laid[RIVALS_MAX]; /* who had the time of the last wait that was looked at */
};

static __always_inline struct ledger_run *ledger_run_at(struct ledger_runs *runs, u64 number)
{
	ledger_bound(number, RUNS_MAX - 1);
	return &runs->runs[number];
}

static __always_inline void ledger_note_run(struct ledger_runs *runs, u64 task, u32 pid, u32 policy,
					    u64 now)
{
	struct ledger_run *run = ledger_run_at(runs, runs->count++);

	run->begin_ns = now;
	run->task = task;
	run->pid = pid;
	run->policy = policy;
}

/*
 * Most waits are short, and for the one that ran all the time: then that is all there is to do, if
 * it has its entry already.
 */
static __always_inline bool ledger_add_last_run(struct ledger_task *account,
						struct ledger_runs *runs, u64 begin, u64 now)
{
	struct ledger_run *run = ledger_run_at(runs, runs->count - 1);
	struct ledger_rival *rival;
	u64 place = run->pid;

	ledger_bound(place, RIVALS_MAX - 1);
	rival = &account->rivals[place];
	if (run->begin_ns > begin || rival->pid != run->pid || !rival->ns)
		return false;
	rival->ns += now - begin;
	account->rivals_ns += now - begin;
	return true;
}

/* Each rival has two places; a new one takes that with less. */
static __always_inline u64 ledger_laid_place(const struct ledger_runs *runs, u32 pid)
{
	u64 one = pid & (RIVALS_MAX - 1), other = (one + 1 + (pid >> 3) % 7) & (RIVALS_MAX - 1);

	ledger_bound(one, RIVALS_MAX - 1);
	ledger_bound(other, RIVALS_MAX - 1);
	if (runs->laid[one].rival.pid == pid || !runs->laid[one].rival.ns)
		return one;
	if (runs->laid[other].rival.pid == pid || !runs->laid[other].rival.ns)
		return other;
	return runs->laid[one].rival.ns <= runs->laid[other].rival.ns ? one : other;
}

/* One that loses its place to another keeps no share: it is nobody's then. */
static __always_inline void ledger_lay_run(struct ledger_runs *runs, const struct ledger_run *run,
					   u64 ns)
{
	u64 place = ledger_laid_place(runs, run->pid);
	struct ledger_laid *laid;

	ledger_bound(place, RIVALS_MAX - 1);
	laid = &runs->laid[place];
	if (laid->rival.ns && laid->rival.pid == run->pid) {
		laid->rival.ns += ns;
		if (run->policy)
			laid->rival.policy = run->policy;
	} else if (laid->rival.ns < ns) {
		laid->rival.ns = ns;
		laid->rival.pid = run->pid;
		laid->rival.policy = run->policy;
		laid->task = run->task;
	}
}

/* Lays a wait in the queue of this CPU, from begin to now, over its runs. Returns what they cover.
 */
static __always_inline u64 ledger_lay_over(struct ledger_runs *runs, u64 begin, u64 now)
{
	u64 end = now;

	for (u32 i = 0; i < RIVALS_MAX; i++)
		runs->laid[i].rival.ns = 0;
	for (u32 i = 1; i <= RUNS_MAX && i <= runs->count && end > begin; i++) {
		struct ledger_run *run = ledger_run_at(runs, runs->count - i);
		u64 from = run->begin_ns > begin ? run->begin_ns : begin;

		if (from < end) {
			ledger_lay_run(runs, run, end - from);
			end = from;
		}
	}
	return now - end;
}

#endif
