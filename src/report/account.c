// SPDX-License-Identifier: Apache-2.0
#include "account.h"

static u64 sum_between(const struct account *account, int first, int last)
{
	u64 sum = 0;

	for (int i = first; i <= last; i++)
		sum += account->ns[i];
	return sum;
}

void account_add(struct account *to, const struct account *from)
{
	for (int i = 0; i < STATE_LIMIT; i++) {
		to->ns[i] += from->ns[i];
		to->count[i] += from->count[i];
	}
}

u64 account_sum(const struct account *account)
{
	return sum_between(account, 0, STATE_LIMIT - 1);
}

u64 account_cpu(const struct account *account)
{
	return sum_between(account, STATE_CPU, STATE_CPU_SOFTIRQ);
}

u64 account_runq(const struct account *account)
{
	return sum_between(account, STATE_RUNQ_WOKEN, STATE_RUNQ_THROTTLED);
}

bool state_is_idle(int state)
{
	return state == STATE_BLOCKED_POLL || state == STATE_BLOCKED_IDLE ||
	       state == STATE_BLOCKED_SLEEP || state == STATE_BLOCKED_STOPPED;
}

u64 account_idle(const struct account *account)
{
	u64 sum = 0;

	for (int i = 0; i < STATE_LIMIT; i++)
		sum += state_is_idle(i) ? account->ns[i] : 0;
	return sum;
}

u64 account_busy(const struct account *account)
{
	return account_sum(account) - account_idle(account) - account->ns[STATE_BLOCKED_CHILD] -
	       account->ns[STATE_BLOCKED_FORK];
}

u64 account_work(const struct account *account)
{
	return account_busy(account) - account->ns[STATE_BLOCKED_PIPE] -
	       account->ns[STATE_BLOCKED_OTHER];
}

int account_sort_states(const struct account *account, int order[STATE_LIMIT])
{
	int count = 0;

	for (int i = 0; i < STATE_LIMIT; i++) {
		int at = count;

		if (!account->ns[i])
			continue;
		for (; at > 0 && account->ns[order[at - 1]] < account->ns[i]; at--)
			order[at] = order[at - 1];
		order[at] = i;
		count++;
	}
	return count;
}
