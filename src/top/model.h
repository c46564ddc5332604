/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What top knows of the host: threads, processes, and how each thread spent the window that ended
 * last. Fed row by row by live.c, read by rows.c and the views. Owns all of it. Text in it is valid
 * UTF-8, but not yet escaped.
 */
#ifndef DWELL_TOP_MODEL_H
#define DWELL_TOP_MODEL_H

#include "../base/hash.h"
#include "part.h"

#define MODEL_THREADS_MAX   100000
#define MODEL_PROCESSES_MAX 100000
#define MODEL_CAUSES_MAX    200000
#define MODEL_NAME_BYTES    128
#define MODEL_COMM_BYTES    64
#define MODEL_KERNEL	    "(kernel)"

/* What a thread waited for, or did, in the last window. */
struct model_cause {
	u64 thread; /* id */
	u64 object;
	u32 holder, waker; /* tids */
	u16 call;
	u8 state, waker_kind;
	s64 ns, count;
};

struct model_thread {
	u64 id; /* the key */
	u32 pid, tid;
	u64 process_start_ns;
	u64 threads; /* more than 1: it stands for that many */
	u64 window;  /* the last one that has rows of it */
	bool is_kernel, is_dead;
	bool is_sum;  /* of threads that have ended: it waits for nothing */
	bool is_open; /* its wait below lasted when that window ended */
	bool is_told; /* its row in threads was read */
	struct model_cause open;
	s64 ns[STATE_LIMIT]; /* in the last window */
	char comm[MODEL_COMM_BYTES];
};

struct model_process {
	u64 pid, start_ns; /* the key */
	char comm[MODEL_COMM_BYTES];
	char service[MODEL_NAME_BYTES];
	bool is_kernel;
	bool has_ended; /* so have its threads, whether their last records came or not */
};

/* The host, in the last window. */
struct model_host {
	u64 cpus;
	u64 cpu_ns, busy_ns, queue_ns;
	u64 own_ns; /* CPU time of dwell's processes that measure */
	u64 bpf_ns; /* of its programs, when they were measured last */
	bool has_bpf;
	u64 lost;	    /* since the start */
	double pressure[3]; /* percent: cpu, io, memory; below 0: not known */
};

struct model {
	struct hash threads;   /* struct model_thread */
	struct hash processes; /* struct model_process */
	struct model_cause *causes;
	size_t cause_count;
	u64 window;		 /* the last one, from 1: its id + 1; 0: none yet */
	u64 begin_ns, window_ns; /* of the capture; of the last window */
	u64 end_ns;
	u64 not_kept; /* rows that found no memory or a full table */
	struct model_host host;
};

int model_init(struct model *model); /* 0 or -ENOMEM */
void model_free(struct model *model);

/* A window that follows the last: who has ended meanwhile is forgotten. */
void model_begin_window(struct model *model, u64 window, u64 begin_ns, u64 end_ns);

/* A row of the ledger in that window; is_end: it tells up to when the thread's time is known. */
void model_add(struct model *model, const struct model_cause *cause, bool is_end);

/* A row of a window that was never shown: all that counts is for what the thread waits now. */
void model_add_missed(struct model *model, const struct model_cause *cause, u64 window);

/*
 * All rows were read: who has none waits as it did, all of the window. Each thread that lives has a
 * row in the first window of a file: who has none since then has ended.
 */
void model_end_window(struct model *model, u64 first_window);

struct model_thread *model_thread(const struct model *model, u64 id);
const struct model_process *model_process(const struct model *model, u64 pid, u64 start_ns);

/* As what its line is called: the kernel is one, who has no service has its own name. */
const char *model_service(const struct model_process *process);

/* The thread that has this tid, or NULL. */
const struct model_thread *model_by_tid(const struct model *model, u32 tid);

#endif
