// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * The walk of user stacks, as a function of its own.
 */
#include "common.bpf.h"

int stack_walk_frame(u32 context)
{
	struct stack_scratch *scratch = stack_scratch_of(context);
	u64 place;
	int is_over;

	if (!scratch)
		return 1;
	place = (u64)scratch->rec.kernel_count + scratch->walk.frames;
	is_over = unwind_step(&scratch->walk);
	if (place < KERNEL_FRAMES_MAX + USER_FRAMES_MAX)
		scratch->rec.frames[place] = scratch->walk.address;
	return is_over;
}
