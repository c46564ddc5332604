// SPDX-License-Identifier: Apache-2.0
#include "part.h"

#include <curses.h>

/* Colours of the HTML report, as near as 256 colours come to them. */
const struct part_kind part_kinds[PART_COUNT] = {
	[PART_CPU] = {"cpu", '#', true, 208, COLOR_YELLOW},
	[PART_RUNQ] = {"run queue", '!', true, 160, COLOR_RED},
	[PART_LOCK] = {"lock", 'L', true, 97, COLOR_MAGENTA},
	[PART_DISK] = {"disk", 'D', true, 33, COLOR_BLUE},
	[PART_NET] = {"network", 'N', true, 37, COLOR_CYAN},
	[PART_MEMORY] = {"memory", 'M', true, 133, COLOR_MAGENTA},
	[PART_UNATTRIBUTED] = {"unattributed", '?', true, 232, COLOR_BLACK},
	[PART_WAIT] = {"wait", 'w', false, 66, COLOR_GREEN},
	[PART_SLEEP] = {"sleep", 'z', false, 60, COLOR_WHITE},
	[PART_IDLE] = {"idle", '.', false, 252, COLOR_WHITE},
};

enum part part_of_state(unsigned int state)
{
	switch (state) {
	case STATE_CPU:
	case STATE_CPU_USER:
	case STATE_CPU_SYSCALL:
	case STATE_CPU_FAULT:
	case STATE_CPU_IRQ:
	case STATE_CPU_SOFTIRQ:
		return PART_CPU;
	case STATE_RUNQ_WOKEN:
	case STATE_RUNQ_PREEMPTED:
	case STATE_RUNQ_THROTTLED:
		return PART_RUNQ;
	case STATE_BLOCKED_LOCK:
	case STATE_BLOCKED_KERNEL_LOCK:
		return PART_LOCK;
	case STATE_BLOCKED_DISK:
	case STATE_BLOCKED_DISK_HELD:
	case STATE_BLOCKED_PAGEIN:
		return PART_DISK;
	case STATE_BLOCKED_NET:
		return PART_NET;
	case STATE_BLOCKED_MEMORY:
		return PART_MEMORY;
	case STATE_BLOCKED_PIPE:
	case STATE_BLOCKED_CHILD:
	case STATE_BLOCKED_OTHER:
	case STATE_BLOCKED_FORK:
	case STATE_BLOCKED_SIGNALLED:
	case STATE_BLOCKED_IPC:
		return PART_WAIT;
	case STATE_BLOCKED_SLEEP:
		return PART_SLEEP;
	case STATE_BLOCKED_POLL:
	case STATE_BLOCKED_IDLE:
	case STATE_BLOCKED_STOPPED:
		return PART_IDLE;
	default:
		return PART_UNATTRIBUTED;
	}
}
