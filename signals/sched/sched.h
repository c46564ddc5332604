/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The measures of the signal, as both sides number them.
 */
#ifndef DWELL_SCHED_H
#define DWELL_SCHED_H

enum sched_kind { SCHED_RUN, SCHED_CPU, SCHED_MIGRATION, SCHED_WAKEUP, SCHED_STARVED };

#define SCHED_BURST_NS	 1000000   /* wake-ups by one thread within so long belong together */
#define SCHED_STARVED_NS 100000000 /* who waits so long for a CPU is starved */

struct series_set;
struct remarks;

/* What the numbers say, in sentences. */
void sched_judge(const struct series_set *set, struct remarks *remarks);

#endif
