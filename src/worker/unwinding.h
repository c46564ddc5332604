/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables for the walk of stacks, and names, as the worker makes them of descriptors that it is
 * handed. The first part is for commands; the second is the worker's own. The worker may have been
 * taken over by what it read: whatever it answers is checked here before it is handed on.
 */
#ifndef DWELL_WORKER_UNWINDING_H
#define DWELL_WORKER_UNWINDING_H

#include "../symbolize/symbolize.h"
#include "worker.h"

/* The four arrays of abi/unwind.h, in this order. */
enum unwinding_map {
	UNWINDING_ROWS,
	UNWINDING_PAGES,
	UNWINDING_MODULES,
	UNWINDING_MAPPINGS,
	UNWINDING_MAP_COUNT
};

struct unwinding_wish {
	bool lines;	/* source lines with names ... */
	bool inlined;	/* ... and functions that were inlined */
	u32 generation; /* mappings that were given out by a process before: none is used again */
};

/*
 * Descriptors of BPF maps that can be mapped into memory; the table of rows is as large as a person
 * wants it: 0 or -errno.
 */
int worker_unwinding_open(struct worker *worker, const int fds[UNWINDING_MAP_COUNT], u32 row_count,
			  const struct unwinding_wish *wish);
/* They are read when the first one is asked for; at_once: as soon as the worker has answered. */
int worker_unwinding_kallsyms(struct worker *worker, int fd, bool at_once);

/*
 * Those that forked or ended, gathered: a call to the worker costs more than what it does then.
 * Whoever takes it empties it; stale ones, children of what is over, are to be looked at after all.
 */
#define UNWINDING_REQUESTS_MAX 128

struct unwinding_batch {
	struct unwind_request requests[UNWINDING_REQUESTS_MAX];
	u32 count;
	u32 stale[UNWINDING_REQUESTS_MAX]; /* tgids; the reader sets stale_count to 0 */
	u32 stale_count;
};

/* --- a process is looked at, one at a time; see src/symbolize/symbolize.h --- */

#define UNWINDING_FILES_MAX 64 /* of one answer */

struct unwinding_file {
	u64 begin;
	u64 end;
};

/*
 * Files first and on of the process's: how many, or -errno. For first 0 with the descriptor of its
 * maps; what is in the batch happens before.
 */
int worker_unwinding_scan(struct worker *worker, struct unwinding_batch *batch, u32 tgid,
			  int maps_fd, u32 first,
			  struct unwinding_file ret_files[UNWINDING_FILES_MAX]);

/* For the kernel side; it is within the maps. */
struct unwinding_found {
	struct unwind_process process;
	struct thread_context context; /* of kind 0: it publishes none */
	bool has_jit; /* code that is in no file, for which there may be a map of names */
};

/*
 * Which of them are to be handed over: a bit each in *ret_wanted. If none is, and there are no more
 * files (is_last), the scan is finished with this. 0 or -errno.
 */
int worker_unwinding_known(struct worker *worker, u32 first, const struct file_facts *facts,
			   u32 count, bool is_last, u64 *ret_wanted,
			   struct unwinding_found *ret_found);
int worker_unwinding_file(struct worker *worker, u32 file, const struct file_facts *facts, int fd,
			  struct file_wants *ret_wants);
int worker_unwinding_debug_file(struct worker *worker, u32 file, int fd);

/* -errno: they are to be built. */
int worker_unwinding_read_rows(struct worker *worker, u32 file, int fd);
int worker_unwinding_build_rows(struct worker *worker, u32 file, bool *ret_is_worthy);
/* Into an empty file. */
int worker_unwinding_write_rows(struct worker *worker, u32 file, int fd);

int worker_unwinding_finish(struct worker *worker, struct unwinding_found *ret_found);

/* --- what becomes of processes --- */

/* Empties the batch: 0 or -errno. */
int worker_unwinding_send(struct worker *worker, struct unwinding_batch *batch);
int worker_unwinding_perf_map(struct worker *worker, u32 tgid, int fd);
int worker_unwinding_counts(struct worker *worker, struct symbolize_counts *ret_counts);

/*
 * The two processes of a measurement (see symbolize.h) get to know each other: again when one of
 * them was replaced. 0 or -errno; worker_failure() says which of them does not answer.
 */
int worker_unwinding_connect(struct worker *symbolizer, struct worker *ingest);
/* Names that were asked for and are not there yet: of ingest. */
int worker_unwinding_pending(struct worker *ingest, u32 *ret_count);

/* Inside the worker. */
enum unwinding_job {
	UNWINDING_MAP,
	UNWINDING_OPEN,
	UNWINDING_KALLSYMS,
	UNWINDING_SCAN,
	UNWINDING_KNOWN,
	UNWINDING_FILE,
	UNWINDING_DEBUG_FILE,
	UNWINDING_READ_ROWS,
	UNWINDING_BUILD_ROWS,
	UNWINDING_WRITE_ROWS,
	UNWINDING_FINISH,
	UNWINDING_REQUESTS,
	UNWINDING_PERF_MAP,
	UNWINDING_COUNTS,
	UNWINDING_PUBLISH,
	UNWINDING_MIRROR,
	UNWINDING_PENDING,
	UNWINDING_JOB_COUNT
};
#define UNWINDING_JOB_FIRST 0xfffe0000u

struct unwinding_inside {
	struct symbolize *symbolize;
	void *maps[UNWINDING_MAP_COUNT]; /* NULL: not mapped yet */
	u32 row_count;
	bool reads_kallsyms; /* when the job is answered */
};

int unwinding_inside_open(struct unwinding_inside *unwinding);

/* What a job has left to do, after it was answered. */
void unwinding_inside_rest(struct unwinding_inside *unwinding);

/* Runs one job: the reply's size or -errno. A descriptor that it keeps becomes -1. */
ssize_t unwinding_inside_run(struct unwinding_inside *unwinding, enum unwinding_job job, int *fd,
			     const void *request, size_t size, void *reply, size_t reply_size);

#endif
