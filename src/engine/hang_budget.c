// SPDX-License-Identifier: Apache-2.0
#include "hang_budget.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "../base/clock.h"
#include "opener.h"

#define HUNG_NS (60 * NS_PER_S) /* that what hung twice is left alone */

/* What many hanging files may take from the measurement: 4 x 100 ms in 10 s. */
#define HANGS_NS  (10 * NS_PER_S)
#define HANGS_MAX 4

void hang_budget_take(struct hang_budget *budget, int pid_fd)
{
	u64 now_ns = clock_now_ns();

	if (now_ns - budget->hangs_since_ns >= HANGS_NS) {
		budget->hangs_since_ns = now_ns;
		budget->hangs = 0;
	}
	budget->hangs++;
	budget->is_last_new = false;
	if (budget->abandoned_count == HUNG_MAX)
		return;
	pid_fd = fcntl(pid_fd, F_DUPFD_CLOEXEC, 0);
	if (pid_fd < 0)
		return;
	budget->abandoned[budget->abandoned_count++] = (struct abandoned){.pid_fd = pid_fd};
	budget->is_last_new = true;
}

static void forget_ended(struct hang_budget *budget)
{
	for (size_t i = budget->abandoned_count; i > 0; i--) {
		struct pollfd ended = {.fd = budget->abandoned[i - 1].pid_fd, .events = POLLIN};

		if (poll(&ended, 1, 0) != 1)
			continue;
		close(ended.fd);
		budget->is_last_new = false; /* they change places */
		budget->abandoned[i - 1] = budget->abandoned[--budget->abandoned_count];
	}
}

bool hang_budget_is_exhausted(struct hang_budget *budget)
{
	forget_ended(budget);
	return budget->abandoned_count == HUNG_MAX ||
	       (budget->hangs >= HANGS_MAX && clock_now_ns() - budget->hangs_since_ns < HANGS_NS);
}

static const struct hung *find(const struct hang_budget *budget, u64 dev, u32 pid)
{
	for (size_t i = 0; i < HUNG_MAX; i++)
		if (budget->hung[i].until_ns && budget->hung[i].dev == dev &&
		    budget->hung[i].pid == pid)
			return &budget->hung[i];
	return NULL;
}

bool hang_budget_knows(const struct hang_budget *budget, u64 dev, u32 pid)
{
	return find(budget, dev, pid);
}

void hang_budget_leave_alone(struct hang_budget *budget, u64 dev, u32 pid)
{
	const struct hung *known = find(budget, dev, pid);

	if (budget->is_last_new) {
		budget->abandoned[budget->abandoned_count - 1].dev = dev;
		budget->abandoned[budget->abandoned_count - 1].pid = pid;
		budget->is_last_new = false;
	}
	if (known)
		budget->hung[known - budget->hung].until_ns = clock_now_ns() + HUNG_NS;
	else
		budget->hung[budget->hung_next++ % HUNG_MAX] =
			(struct hung){dev, pid, clock_now_ns() + OPENER_RETRY_NS};
}

/* The kernel still keeps the one that hung there. */
static bool still_hangs(struct hang_budget *budget, u64 dev, u32 pid)
{
	forget_ended(budget);
	for (size_t i = 0; i < budget->abandoned_count; i++)
		if (budget->abandoned[i].dev == dev && budget->abandoned[i].pid == pid)
			return true;
	return false;
}

bool hang_budget_is_left_alone(struct hang_budget *budget, u64 dev, u32 pid)
{
	const struct hung *known = find(budget, dev, pid);

	return (known && clock_now_ns() < known->until_ns) || still_hangs(budget, dev, pid);
}

void hang_budget_close(struct hang_budget *budget)
{
	while (budget->abandoned_count)
		close(budget->abandoned[--budget->abandoned_count].pid_fd);
}
