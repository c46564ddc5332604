/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What a syscall can wait for: the words in which user space tells the probes.
 */
#ifndef DWELL_LEDGER_WAITS_H
#define DWELL_LEDGER_WAITS_H

#define SYSCALL_LIMIT 512

enum wait {
	WAIT_OTHER,
	WAIT_SLEEP,
	WAIT_POLL,
	WAIT_IDLE, /* for somebody to come */
	WAIT_NET,
	WAIT_CHILD,
	WAIT_DISK,
	WAIT_FUTEX, /* its word tells a lock from a condition */
	WAIT_FILE,  /* its first argument is a file, whose kind tells */
};

#endif
