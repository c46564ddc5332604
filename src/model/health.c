// SPDX-License-Identifier: Apache-2.0
#include "health.h"

const char *const loss_names[LOSS_COUNT] = {
#define LOSS(NAME, name, meaning) [LOSS_##NAME] = #name,
#include "../../abi/losses.def"
#undef LOSS
};

const char *const loss_meanings[LOSS_COUNT] = {
#define LOSS(NAME, name, meaning) [LOSS_##NAME] = meaning,
#include "../../abi/losses.def"
#undef LOSS
};

u64 health_lost(const struct health *health)
{
	u64 sum = 0;

	for (int i = 0; i < LOSS_COUNT; i++)
		sum += health->lost[i];
	return sum;
}

s64 health_imbalance(const struct health *health)
{
	return (s64)(health->sent - health->processed - health->coalesced - health_lost(health));
}
