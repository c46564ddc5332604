/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a report needs of a session, in memory and added up over the windows that were asked for.
 * Owns all that it holds. Filled once by digest_read(), then only read by the parts of the report.
 * Text in it is valid UTF-8, but not yet escaped.
 */
#ifndef DWELL_REPORT_DIGEST_H
#define DWELL_REPORT_DIGEST_H

#include <stdbool.h>

#include "../../abi/records.h"
#include "../base/hash.h"
#include "../model/health.h"
#include "../model/profile.h"
#include "account.h"
#include "report.h"
#include "requests.h"
#include "signals.h"

struct findings;

/* Bounds: a session comes from anywhere. More than this is refused, and told. */
#define DIGEST_THREADS_MAX 500000
#define DIGEST_ROWS_MAX	   20000000 /* of any other kind */
#define DIGEST_CPUS_MAX	   4096
#define DIGEST_TEXT	   256
#define DIGEST_COMM	   64 /* 15 bytes, each perhaps U+FFFD */

/* A cause of a thread's time; opens with its key. */
struct cause {
	u64 object;
	u32 thread; /* index */
	u32 holder;
	u16 call;
	u8 state;
	u8 unused[5];
	/* the key ends here */
	u32 waker; /* who ended most of it, of those below */
	u32 waker_kind;
	u64 waker_ns; /* its part of ns */
	u64 ns;
	u64 count;
};
#define CAUSE_KEY_BYTES __builtin_offsetof(struct cause, waker)

/* A cause's time by who ended the waits; opens with its key, which opens with the cause's. */
struct cause_waker {
	u64 object;
	u32 thread;
	u32 holder;
	u16 call;
	u8 state;
	u8 unused[5];
	u32 waker;
	u32 waker_kind;
	/* the key ends here */
	u64 ns, count;
};

/* Who ran while a thread waited for a CPU; opens with its key. */
enum rival_kind { RIVAL_THREAD, RIVAL_IDLE, RIVAL_OTHERS };
struct rival {
	u32 thread; /* index of the one that waited */
	u32 pid, tid;
	u16 kind; /* enum rival_kind */
	u16 policy;
	/* the key ends here */
	u64 ns;
	char comm[DIGEST_COMM];
};

/* How a culprit spent a wait of a thread; opens with its key. */
struct chain_part {
	u64 object, part_object;
	u32 thread; /* index of the one that waited */
	u32 culprit_pid, culprit_tid;
	u32 part_culprit; /* tid */
	u16 call, part_call;
	u8 state, part_state;
	u8 unused[2];
	/* the key ends here */
	u64 ns;
	char culprit_comm[DIGEST_COMM];
};

/* The turns of an event loop. */
struct loop {
	u64 thread; /* index, the key */
	u64 turns, long_turns, long_ns, max_ns;
};

enum limit_kind { LIMIT_CPU, LIMIT_MEMORY, LIMIT_IO, LIMIT_KINDS };

struct cgroup_limit {
	char cgroup[DIGEST_TEXT];
	char set_by[LIMIT_KINDS][DIGEST_TEXT]; /* itself, or the one above it whose limit it is */
	u64 cpu_quota_us, cpu_period_us;
	u64 memory_high, memory_max; /* 0: none */
	u64 nr_throttled, throttled_us;
	char io_limit[DIGEST_TEXT];
};

/* A process may be in one cgroup for each controller. */
struct cgroup_process {
	char cgroup[DIGEST_TEXT];
	u32 pid;
};

/* A counter of the host's, at the session's start and end. */
struct counter {
	char name[48];
	char subject[48];
	u64 begin, end;
};

struct call {
	u32 thread; /* index */
	u32 call;
	/* the key ends here */
	u64 count, failed, cpu_ns, total_ns;
};

struct faults {
	u64 begun, ended, failed;
};

struct thread {
	s64 id;
	u32 pid, tid;
	u64 process_start_ns, start_ns;
	u64 begin_ns, end_ns; /* of all that is known of it, not only of the slice */
	u64 account_ns;	      /* since when it is measured: in an earlier file, maybe */
	u64 counted_ns;	      /* up to when voluntary and the like were counted */
	u64 threads;	      /* more than 1: it stands for that many */
	bool is_sum;	      /* of dead threads whose records were lost: it has no begin */
	bool is_counted;      /* a sum stands for it too: counted there */
	bool is_kernel, is_dead;
	bool is_wanted;	 /* by --pid and --tid */
	bool is_present; /* in the slice */
	bool is_dormant; /* in it, but never ran nor wanted to: its wait is no news */
	u64 voluntary, involuntary, kernel_voluntary, kernel_involuntary;
	u64 kernel_exec_ns, kernel_delay_ns;
	u64 missed, unnamed;
	u64 ledger_ns, cpu_ns, irq_ns, runq_ns; /* by the ledger, over the whole session */
	struct faults faults;
	u32 process;			 /* index */
	size_t first_cause, cause_count; /* in digest.causes, longest first */
	size_t first_call, call_count;	 /* in digest.calls, longest first */
	char comm[DIGEST_COMM];
};

struct process {
	u32 pid, parent; /* 0: not known */
	u64 start_ns;
	bool is_kernel, is_present, is_wanted;
	bool has_ended; /* exit_code is known */
	s32 exit_code;
	u64 ended_ns;			   /* 0: it lives, or that is not known */
	u32 group;			   /* index */
	size_t first_thread, thread_count; /* all, those not in the slice too */
	u64 present;			   /* threads in the slice */
	u64 begin_ns, end_ns;		   /* in the slice */
	struct account account;		   /* in the slice */
	u64 work_ns;			   /* account_work() of its threads that are not dormant */
	char comm[DIGEST_COMM];
	char exe[DIGEST_TEXT];
	char service[DIGEST_TEXT];
	char cgroup[DIGEST_TEXT];
	char group_name[DIGEST_TEXT]; /* by --group-by, as the session has it */
};

/* Processes of one name in one service: a row on the first screen. Opens with its key. */
struct group {
	char service[DIGEST_TEXT];
	char comm[DIGEST_COMM];
	/* the key ends here */
	u64 processes, threads;
	struct account account; /* of its threads that are shown */
	u32 busiest;		/* index of the process that worked most */
	bool is_kernel;
};
#define GROUP_KEY_BYTES __builtin_offsetof(struct group, processes)

struct object {
	u64 id;
	u32 kind;
	u32 pid; /* who listens there, or is the peer; 0: not known */
	char name[DIGEST_TEXT];
};

struct syscall_row {
	u64 call;
	char name[40];
};

struct hook {
	char name[64], fallback_of[64], failure[DIGEST_TEXT];
	bool is_attached;
	bool is_rare;	 /* its silence says nothing */
	bool is_counted; /* else the two are not known: the kernel's clock was not to be had */
	u64 events, bpf_ns;
	u64 measured_ns; /* the time in which these were counted; 0: not told, then all of it */
	bool is_scaled;	 /* by window, in scaled_ns; sessions of before 0.2 are not */
	u64 scaled_ns;	 /* bpf_ns, each window's as if it had been measured throughout */
	u64 misses;	 /* runs that the kernel skipped, all the time */
};

struct exec {
	u64 ts_ns, start_ns;
	u64 next_ns; /* of the next exec of the same process; 0: it was the last */
	u32 pid, parent;
	char exe[DIGEST_TEXT];
};

struct step {
	u64 ts_ns;
	char what[DIGEST_TEXT], why[DIGEST_TEXT];
};

/* How much of the session a part of it covers: stacks, tier_b, a signal. */
struct cover {
	char part[64];
	u64 covered_ns, total_ns;
	u64 thinned; /* one in so many was kept, when it was fewest; 1: all */
};

struct loss_row {
	char cause[32]; /* the key */
	u64 count;
};

struct meta_row {
	char key[64]; /* the key */
	char value[DIGEST_TEXT * 2];
};

struct cpu_row {
	u64 cpu; /* the key */
	u64 ns[CPU_USE_COUNT];
	u64 queue_ns, switches, missed;
};

struct overhead {
	u64 bpf_windows; /* in which bpf_ns was measured: its clock costs, and is not always on */
	u64 bpf_ns, user_cpu_ns;		 /* sums */
	u64 rss_bytes, map_bytes, ring_fill_max; /* highest */
};

struct digest {
	const struct report_options *options;
	bool is_slice, is_killed; /* no end in meta: the writer was killed */
	u64 start_ns;		  /* of the session */
	u64 begin_ns, end_ns;	  /* covered by the windows that were taken */
	u64 window_count;
	s64 first_window, last_window; /* ids */
	char state_names[STATE_LIMIT][32];

	struct thread *threads; /* by process, then tid */
	size_t thread_count;
	struct process *processes; /* by pid, then start */
	size_t process_count;
	struct hash causes; /* struct cause, by thread, longest first */
	struct hash wakers; /* struct cause_waker */
	struct hash groups; /* struct group */
	struct hash by_id;  /* threads by their id in the session, unless dense_ids has them */
	u32 *dense_ids;	    /* 1 + index, by id from first_id on; NULL: ids are too far apart */
	s64 first_id;
	size_t id_count;
	struct hash rivals; /* struct rival, by thread */
	struct hash chains; /* struct chain_part */
	struct hash loops;  /* struct loop */
	struct cgroup_limit *limits;
	size_t limit_count;
	struct cgroup_process *cgroup_processes;
	size_t cgroup_process_count;
	struct counter *counters;
	size_t counter_count;
	struct hash calls;    /* struct call, likewise */
	struct hash objects;  /* struct object */
	struct hash syscalls; /* struct syscall_row */
	struct hash losses;   /* struct loss_row */
	struct hash meta;     /* struct meta_row */
	struct hash cpus;     /* struct cpu_row */
	struct hash by_tid;   /* struct tid_name: who a tid is */
	struct hook *hooks;
	size_t hook_count;
	struct exec *execs;
	size_t exec_count;
	struct step *steps;
	size_t step_count;
	struct cover *covers;
	size_t cover_count;
	struct overhead overhead;
	struct account all;	 /* of the threads that are shown */
	u64 present;		 /* how many these are */
	u64 wall_ns;		 /* the sum of their time in the slice */
	u64 busy_ns;		 /* account_busy() of those that are not dormant */
	u64 dormant, dormant_ns; /* how many are, and their time */
	struct account kernel;	 /* of the kernel's own, shown or not */
	u64 kernel_threads;
	struct profile profile; /* samples and stacks, of what is shown */
	u32 *first_samples; /* of each group, an index into profile.samples; PROFILE_NONE: none */
	u32 *next_samples;  /* of each sample, the next one of its group; likewise */
	u32 *telling_functions[2]; /* by stack, of user code and of the kernel: hot_function.c */
	struct signals signals;	   /* series, and what goes with them, likewise */
	struct requests requests;
	struct findings *findings;
};

int digest_read(sqlite3 *db, const struct report_options *options, struct digest *ret_digest);
void digest_free(struct digest *digest);

/* The parts of digest_read(): tables into memory, and what follows from them. */
int digest_read_tables(sqlite3 *db, struct digest *digest);
void digest_sort(struct digest *digest); /* threads and processes; indices hold from then on */
int digest_index(struct digest *digest); /* threads by their id in the session */
int digest_read_ledger(sqlite3 *db, struct digest *digest);
int digest_read_culprits(sqlite3 *db, struct digest *digest);
int digest_index_tids(struct digest *digest);
int digest_group(struct digest *digest);
int digest_group_services(struct digest *digest);
int digest_index_samples(struct digest *digest); /* by group; needs both */

/* The thread with this id in the session: its index, or -1. */
s64 digest_thread_by_id(const struct digest *digest, s64 id);

/* A host counter's growth during the session: false if it was not kept. */
bool digest_counter(const struct digest *digest, const char *name, const char *subject,
		    u64 *ret_growth);

/* The limit of this kind that holds for a process; NULL: none. */
const struct cgroup_limit *digest_limit(const struct digest *digest, const struct process *process,
					enum limit_kind kind);

bool digest_window_is_in(const struct digest *digest, s64 window);
const char *digest_meta(const struct digest *digest, const char *key); /* "" if there is none */
u64 digest_meta_number(const struct digest *digest, const char *key);
/* NULL: nothing is known of it, or it covers all of the session. */
const struct cover *digest_partial_cover(const struct digest *digest, const char *part);
const char *digest_call_name(const struct digest *digest, u32 call, char *buf, size_t size);

/* Shown: wanted, in the slice, and not the kernel's unless that is asked for. */
bool digest_shows(const struct digest *digest, const struct thread *thread);

const struct process *digest_process(const struct digest *digest, u64 pid, u64 start_ns);

/* The thread that had this tid last, or NULL. */
const struct thread *digest_by_tid(const struct digest *digest, u32 tid);

/* How many threads a row adds to their number. */
static inline u64 thread_number(const struct thread *thread)
{
	return thread->is_counted ? 0 : thread->threads;
}

/* The time that is shown. */
static inline u64 digest_span(const struct digest *digest)
{
	return digest->end_ns > digest->begin_ns ? digest->end_ns - digest->begin_ns : 0;
}

/* A thread's time in the slice, by its begin and end. */
u64 thread_wall_ns(const struct digest *digest, const struct thread *thread);
void thread_account(const struct digest *digest, const struct thread *thread,
		    struct account *ret_account);

#endif
