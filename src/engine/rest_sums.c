// SPDX-License-Identifier: Apache-2.0
#include "rest_sums.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "../model/signal.h"

/* Nobody's has no process, and stays. */
static bool is_dead(const struct rest_sum_key *key)
{
	return key->tgid && kill((pid_t)key->tgid, 0) && errno == ESRCH;
}

static bool was_dead(const struct rest_sums *sums, const struct rest_sum_key *key)
{
	for (size_t i = 0; i < sums->dead_count; i++)
		if (!memcmp(&sums->dead[i], key, sizeof(*key)))
			return true;
	return false;
}

bool rest_sums_is_over(void *context, const void *key)
{
	struct rest_sums *sums = context;

	if (was_dead(sums, key))
		return true;
	if (is_dead(key) && sums->dead_now_count < LEDGER_SUMS_MAX)
		memcpy(&sums->dead_now[sums->dead_now_count++], key, sizeof(sums->dead_now[0]));
	return false;
}

void rest_sums_sent(struct rest_sums *sums, struct capture *capture)
{
	if (++sums->read_outs % REST_SUMS_EVERY)
		return;
	sums->dead_now_count = 0;
	for (int id = 1; id < SIGNAL_LIMIT; id++)
		if (signal_rows[id].signal && signal_rows[id].signal->rest_map)
			sums->forgotten += capture_forget_keys(
				capture, signal_rows[id].signal->rest_map, rest_sums_is_over, sums);
	memcpy(sums->dead, sums->dead_now, sums->dead_now_count * sizeof(sums->dead[0]));
	sums->dead_count = sums->dead_now_count;
}
