// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * The walk of user stacks, as a function of its own.
 */
#include "common.bpf.h"

int stack_walk_frame(u32 context)
{
	struct stack_scratch *scratch = stack_scratch_of(context);
	u64 place;

	if (!scratch)
		return 1;
	place = (u64)scratch->rec.kernel_count + scratch->walk.frames;
	if (place < KERNEL_FRAMES_MAX + USER_FRAMES_MAX)
		scratch->rec.frames[place] = unwind_pc(&scratch->walk);
	return unwind_step(&scratch->walk);
}
