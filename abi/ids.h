/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Numbers that records have for signals, states, objects and the like, each from its .def file, and
 * how much of each a record can hold.
 */
#ifndef DWELL_ABI_IDS_H
#define DWELL_ABI_IDS_H

#define SIGNAL_LIMIT	64 /* ids are below this */
#define RECORD_SIZE_MAX 4096

enum signal_id {
#define SIGNAL(id, NAME, ...) SIG_##NAME = id,
#include "signals.def"
#undef SIGNAL
};

enum signal_version {
#define SIGNAL(id, NAME, name, version, ...) SIG_VERSION_##NAME = version,
#include "signals.def"
#undef SIGNAL
};

enum drop_class { DROP_SAMPLE, DROP_HISTOGRAM, DROP_PAIR };

enum signal_drop_class {
#define SIGNAL(id, NAME, name, version, class, ...) SIG_DROP_##NAME = DROP_##class,
#include "signals.def"
#undef SIGNAL
};

enum ledger_state {
#define STATE(NAME, ...) STATE_##NAME,
#include "states.def"
#undef STATE
	STATE_COUNT
};

enum waker_kind {
#define CONTEXT(NAME, ...) WAKER_##NAME,
#include "contexts.def"
#undef CONTEXT
	WAKER_KIND_COUNT
};

enum object_kind {
#define OBJECT(NAME, ...) OBJECT_##NAME,
#include "objects.def"
#undef OBJECT
	OBJECT_COUNT
};

enum cpu_use {
#define CPU_USE(NAME, ...) CPU_USE_##NAME,
#include "cpu_uses.def"
#undef CPU_USE
	CPU_USE_COUNT
};

enum lock_type {
#define LOCK(NAME, ...) LOCK_##NAME,
#include "locks.def"
#undef LOCK
	LOCK_TYPE_COUNT
};

enum sample_kind {
#define SAMPLE(NAME, ...) SAMPLE_##NAME,
#include "samples.def"
#undef SAMPLE
	SAMPLE_KIND_COUNT
};

#define STATE_LIMIT	      32   /* room for states to come, so that the layout stays */
#define CPUS_MAX	      1024 /* what more CPUs do is not told */
#define COMM_BYTES	      16   /* the kernel's TASK_COMM_LEN */
#define CAUSES_MAX	      32   /* of each thread, told apart */
#define RIVALS_MAX	      8	   /* threads that ran instead of it, of each thread */
#define LEDGER_CHAINS	      4 /* threads that it waited for, and what these did, of each thread */
#define LEDGER_CHAIN_PARTS    7 /* on a CPU, in its queue, four kinds of waits, and the rest */
#define CALLS_MAX	      64 /* system calls of each thread, told apart; a power of two */
#define CALL_PROBES	      16 /* places that are tried for each */
#define NAME_BYTES	      128
#define PATH_BYTES	      256
#define SERIES_RECORD_BUCKETS 480
#define LABEL_BYTES	      128
#define LABEL_ERRNO_MAX	      4096
#define DISK_NAME_BYTES	      32 /* the kernel's DISK_NAME_LEN */

/* A system call in one number: 0 is none, else 1 + its number, and the flag for a 32-bit one. */
#define CALL_COMPAT 0x8000

_Static_assert((int)STATE_COUNT <= STATE_LIMIT, "raise STATE_LIMIT, and the ledger's version");

#endif
