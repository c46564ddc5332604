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
#include "report.h"
#include "signals.h"

/* Bounds: a session comes from anywhere. More than this is refused, and told. */
#define DIGEST_THREADS_MAX 500000
#define DIGEST_ROWS_MAX	   20000000 /* of any other kind */
#define DIGEST_CPUS_MAX	   4096
#define DIGEST_TEXT	   256
#define DIGEST_COMM	   64 /* 15 bytes, each perhaps U+FFFD */

/* Time in each state, of one thread or of many. */
struct account {
	u64 ns[STATE_LIMIT];
	u64 count[STATE_LIMIT];
};

/* A cause of a thread's time; opens with its key. */
struct cause {
	u64 object;
	u32 thread; /* index */
	u32 holder;
	u16 call;
	u8 state;
	u8 unused[5];
	/* the key ends here */
	u32 waker;
	u32 waker_kind;
	u64 waker_ns; /* its weight in the vote of windows */
	u64 ns;
	u64 count;
};
#define CAUSE_KEY_BYTES __builtin_offsetof(struct cause, waker)

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
	u64 counted_ns;	      /* up to when voluntary and the like were counted */
	u64 threads;	      /* more than 1: it stands for so many, and has no place in time */
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
	size_t first_thread, thread_count; /* all, those not in the slice too */
	u64 present;			   /* threads in the slice */
	u64 begin_ns, end_ns;		   /* in the slice */
	struct account account;		   /* in the slice */
	u64 work_ns;			   /* account_work() of its threads that are not dormant */
	char comm[DIGEST_COMM];
	char exe[DIGEST_TEXT];
	char service[DIGEST_TEXT];
};

struct object {
	u64 id;
	u32 kind;
	char name[DIGEST_TEXT];
};

struct syscall_row {
	u64 call;
	char name[40];
};

struct hook {
	char name[64], fallback_of[64], failure[DIGEST_TEXT];
	bool is_attached;
	bool is_rare; /* its silence says nothing */
	u64 events, bpf_ns;
	u64 measured_ns; /* the time in which these were counted; 0: not told, then all of it */
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
	struct hash causes;   /* struct cause, by thread, longest first */
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
	struct overhead overhead;
	struct account all;	 /* of the threads that are shown */
	u64 present;		 /* how many these are */
	u64 wall_ns;		 /* the sum of their time in the slice */
	u64 busy_ns;		 /* account_busy() of those that are not dormant */
	u64 dormant, dormant_ns; /* how many are, and their time */
	struct account kernel;	 /* of the kernel's own, shown or not */
	u64 kernel_threads;
	struct profile profile; /* samples and stacks, of what is shown */
	struct signals signals; /* series, and what goes with them, likewise */
};

int digest_read(sqlite3 *db, const struct report_options *options, struct digest *ret_digest);
void digest_free(struct digest *digest);

/* The parts of digest_read(): tables into memory, and what follows from them. */
int digest_read_tables(sqlite3 *db, struct digest *digest);
void digest_sort(struct digest *digest); /* threads and processes; indices hold from then on */
int digest_read_ledger(sqlite3 *db, struct digest *digest);
int digest_group(struct digest *digest);

bool digest_window_is_in(const struct digest *digest, s64 window);
const char *digest_meta(const struct digest *digest, const char *key); /* "" if there is none */
u64 digest_meta_number(const struct digest *digest, const char *key);
const char *digest_call_name(const struct digest *digest, u32 call, char *buf, size_t size);

/* Shown: wanted, in the slice, and not the kernel's unless that is asked for. */
bool digest_shows(const struct digest *digest, const struct thread *thread);

/* The thread that had this tid last, or NULL. */
const struct thread *digest_by_tid(const struct digest *digest, u32 tid);

/* A thread's time in the slice, by its begin and end. */
u64 thread_wall_ns(const struct digest *digest, const struct thread *thread);
void thread_account(const struct digest *digest, const struct thread *thread,
		    struct account *ret_account);

u64 account_sum(const struct account *account);
u64 account_cpu(const struct account *account);
u64 account_runq(const struct account *account);

/* Neither at work nor kept from it: it waits for work, or sleeps as it wished. */
bool state_is_idle(int state);
u64 account_idle(const struct account *account);

/*
 * What is of interest: not idle, already made, and not waiting for a child, which has its own
 * account.
 */
u64 account_busy(const struct account *account);

/* The same without waits for another process's doing, or for one does not know what. */
u64 account_work(const struct account *account);

#endif
