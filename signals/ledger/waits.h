/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What a syscall can wait for: the words in which user space tells the probes.
 */
#ifndef DWELL_LEDGER_WAITS_H
#define DWELL_LEDGER_WAITS_H

#define WAITS_COMPAT 512 /* 32-bit syscalls follow the others */
#define WAITS_LIMIT  1024

enum wait_kind {
	WAIT_OTHER,
	WAIT_SLEEP,
	WAIT_POLL,
	WAIT_IDLE,	/* for somebody to come */
	WAIT_ACCEPT,	/* likewise, on the socket that is its first argument */
	WAIT_NET,	/* for data on the socket that is its first argument */
	WAIT_SEND,	/* for room there, or for its peer to answer the call */
	WAIT_IPC,	/* for another process: a queue or a semaphore of System V's or POSIX's */
	WAIT_POLL_LIST, /* its first argument is a list of files, its second how many these are */
	WAIT_CHILD,
	WAIT_DISK,
	WAIT_SYNC,	/* for a disk, and its first argument is the file */
	WAIT_FUTEX,	/* its word tells a lock from a condition */
	WAIT_FILE,	/* its first argument is a file, whose kind tells */
	WAIT_FILE_OUT,	/* likewise, and it writes there */
	WAIT_FILE_LOCK, /* likewise, for a lock on it */
	WAIT_RESUMED,	/* goes on with the one that a signal interrupted */
};

#endif
