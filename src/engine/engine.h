/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One measurement from beginning to end: a worker, a session, the ledger's probes, a window each
 * second, and the end by itself, by a duration or by a signal. `run` and `record` differ in what
 * they ask for and in what they do with the session. Owns everything that it starts but the
 * session's files, which are the caller's.
 */
#ifndef DWELL_ENGINE_ENGINE_H
#define DWELL_ENGINE_ENGINE_H

#include <stdbool.h>

#include "../capture/capture.h"
#include "../store/files.h"
#include "rotation.h"
#include "run_again.h"
#include "selection.h"

#define LABELS_MAX 64

enum tier { TIER_DEFAULT, TIER_A, TIER_B };

/* What --no-stacks and the options beside it say. */
struct stack_options {
	bool is_off;
	bool no_blocks;	  /* stacks of waits are not taken */
	u32 freq;	  /* samples a second on each CPU; 0: none */
	u64 min_block_ns; /* waits of this length have their stack taken in any case */
	u32 seed;	  /* of which shorter ones have; never 0 */
	u32 unwind_rows;  /* of all tables for the walk */
	bool lines;	  /* source lines are looked up, too ... */
	bool inlines;	  /* ... and functions that were inlined */
};

extern const char *const server_model_names[SERVER_MODEL_COUNT];

/* What -s and the options beside it say. */
struct signal_options {
	u64 chosen;	   /* a bit for each signal, by its id */
	u64 slow_ns;	   /* events so long are told one by one; 0: none */
	u64 server_model;  /* enum server_model */
	u64 pair_limit_ns; /* a start so old is not waited for any more; 0: for ever */
	u64 stack_one_in;  /* of their events, one in so many has its stack taken; 0: none */
};

/* What the options of -s alloc say. */
struct alloc_options {
	bool is_chosen;	  /* the signal is among those of -s */
	u64 interval;	  /* one sample for so many bytes */
	u64 kernel_bytes; /* allocations of the kernel's own, so large; 0: none */
	bool live;	  /* what was allocated is followed until it is freed */
	bool force;	  /* whatever it costs */
};

/*
 * What a command adds to a measurement: probes of its own, and what it does at certain moments;
 * each may be NULL. Between load and attach, when maps can be filled; when all is attached, and
 * records can be sent; and after each window, when what was written can be read (live is NULL after
 * the last).
 */
struct engine_extra {
	const struct probe *probes;
	size_t probe_count;
	u32 one_in; /* events are measured; 0: each */
	void *context;
	int (*on_loaded)(void *context, struct capture *capture); /* 0 or -errno, told */
	void (*on_begin)(void *context, struct capture *capture);
	u64 look_ns; /* on_look() is called so long after the start, once; 0: never */
	void (*on_look)(void *context, struct capture *capture, struct live_config *live);
	void (*on_window)(void *context, struct capture *capture, struct live_config *live,
			  const struct session_files *files);
	/* Once a window, of a recording in several files: is this one to end with the window that
	 * has just begun? */
	bool (*wants_next_file)(void *context, u64 file_number);
};

struct engine_options {
	const char *output;	    /* NULL: the session stays in memory */
	char **command;		    /* NULL: none */
	struct selection selection; /* of tasks; without a command, or narrowing it */
	enum tier tier;
	struct stack_options stacks;
	struct signal_options signals;
	struct alloc_options alloc;
	struct engine_extra extra;
	struct run_again again;	  /* how it was typed */
	char run_id[17];	  /* of configuration and build; "": it has none */
	u64 warmup_ns;		  /* so long is measured first, and discarded; 0: nothing is */
	u64 duration_ns;	  /* 0: until the command ends, or a signal comes */
	u64 rotate_ns;		  /* a new file after so long; 0: there is one */
	u64 keep;		  /* so many files; 0: all */
	const char *max_overhead; /* as it was given; NULL: not */
	double overhead_limit;	  /* what it means, of the host's CPU time; 0: no limit */
	const char *note;
	const char *labels[LABELS_MAX]; /* K=V */
	size_t label_count;
	bool show_progress;
};

struct engine_result {
	struct session_files files;
	char path[PATH_MAX];	  /* of a recording in several files: the last one's */
	struct rotation rotation; /* what became of the others */
	enum files_end files_end; /* for files_close() */
	bool is_complete;	  /* all is in the one file */
	bool is_reportable;	  /* there is something to report of */
	u64 windows;
	u64 wall_ns;
	u64 file_bytes;
	int status; /* what the process should end with */
	const char
		*misplaced; /* what became of the file, if it has lost its name; NULL: it has not */
};

/* Tells what goes wrong. The files are closed by the caller, also after a failure. */
void engine_run(const struct engine_options *options, struct engine_result *ret_result);

/* --dry-run: prints the plan of such a measurement, and does not begin it: the exit status. */
int engine_dry_run(const struct engine_options *options);

#endif
