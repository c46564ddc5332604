/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast the CPUs are, which changes by itself: the clock, and on a virtual machine whoever
 * shares its cores, of which the guest sees nothing. A loop that always does the same is timed four
 * times a second, so that two runs can be compared, or not. That takes about 0.01 % of one CPU.
 * Owns a few numbers. Called by the engine's loop.
 */
#ifndef DWELL_ENGINE_CPU_SPEED_H
#define DWELL_ENGINE_CPU_SPEED_H

#include "../../abi/types.h"

struct cpu_speed {
	u64 due_ns; /* when the loop is timed next */
	u64 sum_ns, count;
};

/* Times the loop if that is due. */
void cpu_speed_look(struct cpu_speed *speed);

/* What it took since the last call, on average; 0: it was not timed. */
u64 cpu_speed_take_ns(struct cpu_speed *speed);

#endif
