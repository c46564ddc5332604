/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes hooks fire: a child process, since dwell never measures itself, that does one small
 * harmless thing when told. Owns the child. Called by the doctor.
 */
#ifndef DWELL_DOCTOR_TRIGGER_H
#define DWELL_DOCTOR_TRIGGER_H

#include <sys/types.h>

#include "../../abi/types.h"

enum trigger_kind {
	TRIGGER_NONE,
	TRIGGER_SYSCALL, /* the one that the canary listens for */
	TRIGGER_CPU,	 /* burns some */
	TRIGGER_SLEEP,
	TRIGGER_FAULTS,	 /* touches new memory */
	TRIGGER_CALL,	 /* calls the function that trigger_call_offset() names */
	TRIGGER_USDT,	 /* passes the marker dwell:canary */
	TRIGGER_CONTEND, /* two threads want one kernel lock */
	TRIGGER_DISK,	 /* reads one block past the page cache */
	TRIGGER_TCP,	 /* talks to itself over loopback */
};

#define TRIGGER_MARK 0x5eedca9aULL /* what the function and the marker carry */

struct trigger;

int trigger_start(struct trigger **ret_trigger);
pid_t trigger_pid(const struct trigger *trigger);

/* Does it: 0, or why the thing cannot be done here (-errno). */
int trigger_fire(struct trigger *trigger, enum trigger_kind kind);
void trigger_stop(struct trigger *trigger);

/* The syscall of TRIGGER_SYSCALL, and where in this executable's file TRIGGER_CALL's code is. */
u32 trigger_syscall(void);
u64 trigger_call_offset(void);

#endif
