// SPDX-License-Identifier: Apache-2.0
#include "carry.h"

void carry_parts(const u64 *now, u64 *told, u64 *ret_parts, size_t count)
{
	u64 too_much = 0;

	for (size_t i = 0; i < count; i++) {
		ret_parts[i] = now[i] > told[i] ? now[i] - told[i] : 0;
		too_much += now[i] < told[i] ? told[i] - now[i] : 0;
	}
	for (size_t i = 0; i < count; i++) {
		u64 held_back = too_much < ret_parts[i] ? too_much : ret_parts[i];

		ret_parts[i] -= held_back;
		too_much -= held_back;
		told[i] += ret_parts[i];
	}
}

u64 carry_one(u64 now, u64 *told, u64 limit)
{
	u64 part = now > *told ? now - *told : 0;

	if (part > limit)
		part = limit;
	*told += part;
	return part;
}

u32 carry_count(u32 now, u32 *told)
{
	s32 part = (s32)(now - *told);

	if (part <= 0)
		return 0;
	*told = now;
	return (u32)part;
}
