/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What user space sets and the kernel side reads, each declared once, with its range.
 * Frozen knobs are read-only globals, fixed before load; live knobs are a map that may
 * change at any time without a reload.
 */
#ifndef DWELL_ABI_CONFIG_H
#define DWELL_ABI_CONFIG_H

#include "types.h"

#define U32_LIMIT 0xffffffffULL
#define PID_LIMIT 4194304 /* the kernel's PID_MAX_LIMIT */

/* The initial namespaces have these inodes on every kernel (PROC_*_INIT_INO). */
#define PIDNS_INIT_INUM	 0xEFFFFFFCU
#define USERNS_INIT_INUM 0xEFFFFFFDU

/* KNOB(name, default, least, most, meaning); all are u32. */
#define FROZEN_KNOBS(KNOB)                                                                         \
	KNOB(cfg_pidns_inum, 0, 1, U32_LIMIT, "inode of dwell's pid namespace")                    \
	KNOB(cfg_self_tgid, 0, 0, PID_LIMIT, "dwell's own process; 0: none to exclude")            \
	KNOB(cfg_worker_tgid, 0, 0, PID_LIMIT, "dwell's worker process; 0: none to exclude")       \
	KNOB(cfg_cpus, 1, 1, 8192, "CPUs that the host can have")                                  \
	KNOB(cfg_task_storage, 1, 0, 1, "tracing programs have task storage (5.12)")               \
	KNOB(cfg_task_regs, 1, 0, 1, "there is a helper for a task's registers (5.15)")            \
	KNOB(cfg_split, 0, 0, 1, "Tier B: the time on a CPU is split")                             \
	KNOB(cfg_wake_bytes, 65536, 4096, 1 << 30, "wake the reader per this many bytes, 2^n")     \
	KNOB(cfg_canary_syscall, U32_LIMIT, 0, U32_LIMIT, "syscall that the canary listens for")

/* Which tasks are measured. Zero is "none", so that a map never written emits nothing. */
enum scope {
	SCOPE_NONE = 0,
	SCOPE_ALL = 1,
	SCOPE_LISTED = 2, /* those in the map filter_tgids */
};

/* KNOB(name, default, least, most, meaning); all are u64. */
#define LIVE_KNOBS(KNOB)                                                                           \
	KNOB(scope, SCOPE_NONE, SCOPE_NONE, SCOPE_LISTED, "which tasks are measured")              \
	KNOB(all_rows, 0, 0, 1, "read out also threads that did not move since the last time")     \
	KNOB(no_detail, 0, 0, 1, "do not tell what blocked threads wait for: only how")            \
	KNOB(split_off_tgid, 0, 0, PID_LIMIT, "whose threads calls_stop takes out of Tier B")      \
	KNOB(sample_one_in, 1, 1, 1000000, "keep one event in so many, chosen at random")          \
	KNOB(canary_token, 0, 0, ~0ULL, "echoed by each canary, to tell one run from another")

struct live_config {
#define KNOB(name, ...) u64 name;
	LIVE_KNOBS(KNOB)
#undef KNOB
};

#define FILTER_TGIDS_MAX   4096
#define LEDGER_SUMS_MAX	   1024 /* processes with threads whose last word found no room */
#define SPLIT_OFF_MAX	   64
#define RING_BYTES_MIN	   (64u << 10)
#define RING_BYTES_MAX	   (256u << 20)
#define RING_BYTES_DEFAULT (4u << 20)

#endif
