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
	KNOB(cfg_spawner_tgid, 0, 0, PID_LIMIT, "parent of dwell's helper processes; 0: none")     \
	KNOB(cfg_cpus, 1, 1, 8192, "CPUs that the host can have")                                  \
	KNOB(cfg_cpus_online, 0, 0, 8192,                                                          \
	     "so many CPUs, from number 0 on, are online; of the others it is not known")          \
	KNOB(cfg_filter_kinds, U32_LIMIT, 0, U32_LIMIT, "kinds of filters that may be used")       \
	KNOB(cfg_task_storage, 1, 0, 1, "tracing programs have task storage (5.12)")               \
	KNOB(cfg_task_regs, 1, 0, 1, "there is a helper for a task's registers (5.15)")            \
	KNOB(cfg_cookies, 1, 0, 1, "links have cookies that their programs can read (5.15)")       \
	KNOB(cfg_never, 0, 0, 0, "what depends on it is never run")                                \
	KNOB(cfg_nmi, 0, 0, 1, "a program that can run in NMI takes stacks")                       \
	KNOB(cfg_split, 0, 0, 1, "Tier B: the time on a CPU is split")                             \
	KNOB(cfg_signals, 0, 0, U32_LIMIT, "a bit for each signal that counts in series")          \
	KNOB(cfg_signals_high, 0, 0, U32_LIMIT, "likewise, for ids from 32 on")                    \
	KNOB(cfg_stripes, 1, 1, 4, "copies of each series' numbers, 2^n")                          \
	KNOB(cfg_sample_period_ns, 0, 0, 1100000000, "what one sample on a CPU stands for")        \
	KNOB(cfg_seed, 1, 1, U32_LIMIT, "of the choice which short waits have their stack taken")  \
	KNOB(cfg_wake_bytes, 65536, 4096, 1 << 30, "wake the reader per this many bytes, 2^n")     \
	KNOB(cfg_canary_syscall, U32_LIMIT, 0, U32_LIMIT, "syscall that the canary listens for")

/* Which tasks are measured. Zero is "none", so that a map never written emits nothing. */
enum scope {
	SCOPE_NONE = 0,
	SCOPE_ALL = 1,
	SCOPE_LISTED = 2, /* those that the map `filters` describes */
};

/*
 * By what a task can be chosen: KIND(NAME, "name", what value[0] and value[1] hold). A task is
 * measured if, of each kind that is in use, one filter fits: OR within a kind, AND across kinds.
 */
#define FILTER_KINDS(KIND)                                                                         \
	KIND(PID, "pid", "process, as dwell's pid namespace numbers it; 0")                        \
	KIND(TID, "tid", "thread, likewise; 0")                                                    \
	KIND(COMM, "comm", "COMM_BYTES of the thread's name, filled up with NUL")                  \
	KIND(EXE, "exe", "inode of the executable; its device as the kernel numbers it")           \
	KIND(UID, "uid", "real uid, of the initial user namespace; 0")                             \
	KIND(CGROUP, "cgroup", "id of the cgroup, whose descendants fit too; id of its hierarchy") \
	KIND(TREE, "tree", "process that fits with all that it makes, as pid; 0")

enum filter_kind {
#define KIND(NAME, ...) FILTER_BY_##NAME,
	FILTER_KINDS(KIND)
#undef KIND
		FILTER_KIND_COUNT
};

struct filter_key {
	u64 kind; /* enum filter_kind */
	u64 value[2];
};

#define FILTERS_MAX	      4096
#define FILTER_KIND_BIT(kind) (1ULL << (kind))
#define CGROUP_V2_HIERARCHY   0 /* the id of the one hierarchy that is v2; others are v1 */

/* How a thread of a server works for requests: found for each, or chosen for all (--server-model).
 */
#define SERVER_MODELS(MODEL)                                                                       \
	MODEL(AUTO, "auto")                                                                        \
	MODEL(THREAD, "thread")                                                                    \
	MODEL(LOOP, "loop")

enum server_model {
#define MODEL(NAME, name) SERVER_MODEL_##NAME,
	SERVER_MODELS(MODEL)
#undef MODEL
		SERVER_MODEL_COUNT
};

#define ALL_ROWS_LAST 2 /* of all_rows: and they will not be read again */

/* KNOB(name, default, least, most, meaning); all are u64. */
#define LIVE_KNOBS(KNOB)                                                                           \
	KNOB(scope, SCOPE_NONE, SCOPE_NONE, SCOPE_LISTED, "which tasks are measured")              \
	KNOB(all_rows, 0, 0, ALL_ROWS_LAST, "read out also what did not move since the last time") \
	KNOB(no_detail, 0, 0, 1, "do not tell what blocked threads wait for: only how")            \
	KNOB(no_split, 0, 0, 1, "Tier B is off, for all: calls_turn sees to it")                   \
	KNOB(tick_one_in, 1, 1, 1024, "one sample in N clock ticks of a CPU")                      \
	KNOB(min_block_ns, 1000000, 1, 1000000000000,                                              \
	     "always capture the stack of waits of at least this")                                 \
	KNOB(block_stacks, 200, 0, 100000, "of waits, per second and CPU; 0: none is taken")       \
	KNOB(slow_ns, 0, 0, 1000000000000, "list each event of at least this; 0: none")            \
	KNOB(server_model, SERVER_MODEL_AUTO, SERVER_MODEL_AUTO, SERVER_MODEL_LOOP,                \
	     "how a thread that reads requests works for them")                                    \
	KNOB(slow_budget, 200, 0, 100000, "of these, per second and CPU")                          \
	KNOB(stack_one_in, 0, 0, 1000000,                                                          \
	     "one stack in N events that signals count; 0: no stacks")                             \
	KNOB(alloc_interval, 524288, 1, 1ULL << 40, "one sample per this many bytes allocated")    \
	KNOB(alloc_one_in, 100, 0, 1000000, "time one small call in N; 0: none")                   \
	KNOB(alloc_budget, 5000, 1, 1000000, "of such samples, per second and CPU")                \
	KNOB(alloc_live, 0, 0, 1, "track allocations until they are freed")                        \
	KNOB(alloc_kernel_bytes, 0, 0, 1ULL << 40, "large, of the kernel's allocations; 0: none")  \
	KNOB(signals_off, 0, 0, ~0ULL, "bits of signals whose probes are off for a time")          \
	KNOB(is_partial, 0, 0, 1, "probes come or go: nothing begins that might not end")          \
	KNOB(filter_kinds, 0, 0, FILTER_KIND_BIT(FILTER_KIND_COUNT) - 1,                           \
	     "bits of the filter kinds in use; capture sets it from the filters")                  \
	KNOB(filter_cgroup_v1, 0, 0, 1, "1: some are of a v1 hierarchy; capture sets it")          \
	KNOB(sample_one_in, 1, 1, 1000000, "keep one event in N, chosen at random")                \
	KNOB(canary_token, 0, 0, ~0ULL, "echoed by each canary, to tell one run from another")

struct live_config {
#define KNOB(name, ...) u64 name;
	LIVE_KNOBS(KNOB)
#undef KNOB
};

#define LEDGER_SUMS_MAX	   1024 /* processes with threads whose last word found no room */
#define SPLIT_OFF_MAX	   64
#define RING_BYTES_MIN	   (64u << 10)
#define RING_BYTES_MAX	   (256u << 20)
#define RING_BYTES_DEFAULT (8u << 20)

#endif
