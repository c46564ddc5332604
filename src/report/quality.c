// SPDX-License-Identifier: Apache-2.0
#include "quality.h"

#include <stdlib.h>

#include "../base/clock.h"

/*
 * What the two ways of counting may differ by: they read the clock at different places of a
 * switch, and a thread that is woken on an idle CPU is queued a little after it is woken, for which
 * the run queue has twice as much. The kernel brings its count of a running thread up to date with
 * the tick: what each CPU ran when a session began, and when it ended, may be counted so much late.
 * And where it is built to, it does not count what interrupts and the hypervisor (steal) took.
 */
#define TOLERANCE_SHARE	     200       /* one in so many: 0.5 % */
#define TOLERANCE_WAKE_NS    5000      /* per voluntary switch, which ends in a wake-up */
#define TOLERANCE_PREEMPT_NS 500       /* per involuntary one */
#define TOLERANCE_LEAST_NS   NS_PER_MS /* less is nobody's concern */
#define TICK_MAX_NS	     (10 * NS_PER_MS)

static u64 distance(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

s64 check_difference(const struct check *check)
{
	return (s64)(check->ours - check->kernels);
}

bool check_is_within(const struct check *check)
{
	return distance(check->ours, check->kernels) <= check->tolerance;
}

struct sums {
	u64 exec_ns, kernel_exec_ns, irq_ns, runq_ns, kernel_delay_ns;
	u64 voluntary, kernel_voluntary, involuntary, kernel_involuntary;
	u64 begun, ended, threads_with_faults;
};

static void add(struct quality *quality, struct sums *sums, const struct thread *thread)
{
	u64 wall = thread->end_ns > thread->begin_ns ? thread->end_ns - thread->begin_ns : 0;

	quality->threads += thread_number(thread);
	quality->closure_error_ns += distance(thread->ledger_ns, wall);
	quality->session_wall_ns += wall;
	quality->missed += thread->missed;
	quality->unnamed += thread->unnamed;
	quality->miscounted += distance(thread->voluntary, thread->kernel_voluntary) +
			       distance(thread->involuntary, thread->kernel_involuntary);
	sums->exec_ns += thread->cpu_ns;
	sums->irq_ns += thread->irq_ns;
	sums->kernel_exec_ns += thread->kernel_exec_ns;
	sums->runq_ns += thread->runq_ns;
	sums->kernel_delay_ns += thread->kernel_delay_ns;
	sums->voluntary += thread->voluntary;
	sums->kernel_voluntary += thread->kernel_voluntary;
	sums->involuntary += thread->involuntary;
	sums->kernel_involuntary += thread->kernel_involuntary;
	sums->begun += thread->faults.begun;
	sums->ended += thread->faults.ended + thread->faults.failed;
	sums->threads_with_faults += thread->faults.begun > 0;
}

static void add_check(struct quality *quality, struct check check)
{
	quality->checks[quality->check_count++] = check;
}

/* Of a command all threads began and ended while they were followed: no tick is missing. */
static u64 cpu_slack(const struct digest *digest)
{
	u64 slack = digest_meta_number(digest, "steal_ns");

	if (!*digest_meta(digest, "command"))
		slack += 2 * TICK_MAX_NS * digest_meta_number(digest, "cpus");
	return slack;
}

static void find_checks(struct quality *quality, const struct sums *sums, u64 cpu_slack_ns,
			bool is_slice)
{
	u64 slack = TOLERANCE_LEAST_NS + sums->voluntary * TOLERANCE_WAKE_NS +
		    sums->involuntary * TOLERANCE_PREEMPT_NS;

	add_check(quality, (struct check){"on-CPU", "ns", sums->exec_ns, sums->kernel_exec_ns,
					  sums->kernel_exec_ns / TOLERANCE_SHARE + slack +
						  sums->irq_ns + cpu_slack_ns});
	if (sums->kernel_delay_ns) /* not kept everywhere */
		add_check(quality,
			  (struct check){"run queue", "ns", sums->runq_ns, sums->kernel_delay_ns,
					 quality->session_wall_ns / TOLERANCE_SHARE + 2 * slack});
	add_check(quality, (struct check){"voluntary switches", "switches", sums->voluntary,
					  sums->kernel_voluntary, quality->missed});
	add_check(quality, (struct check){"involuntary switches", "switches", sums->involuntary,
					  sums->kernel_involuntary, quality->missed});
	/* Of a slice, one may have begun before it, or end after it. */
	if (sums->begun)
		add_check(quality, (struct check){"faults", "faults", sums->begun, sums->ended,
						  sums->threads_with_faults * (1 + is_slice)});
}

void quality_find(const struct digest *digest, struct quality *ret_quality)
{
	struct sums sums = {0};

	*ret_quality = (struct quality){0};
	for (size_t i = 0; i < digest->thread_count; i++)
		if (digest->threads[i].is_wanted)
			add(ret_quality, &sums, &digest->threads[i]);
	for (size_t i = 0; i < digest->losses.count; i++)
		ret_quality->lost += ((struct loss_row *)hash_item(&digest->losses, i))->count;
	ret_quality->wall_ns = digest->wall_ns;
	ret_quality->unattributed_ns = digest->all.ns[STATE_UNATTRIBUTED];
	find_checks(ret_quality, &sums, cpu_slack(digest), digest->is_slice);
}
