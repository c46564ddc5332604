/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The samples of a session and their stacks, in memory. Owns all that it holds. Filled by src/store
 * (profile_reader.h), then only read, by the report and the exporters: both may see the model, but
 * not each other. Texts in it are valid UTF-8, but not yet escaped.
 */
#ifndef DWELL_MODEL_PROFILE_H
#define DWELL_MODEL_PROFILE_H

#include <stdbool.h>
#include <stdio.h>

#include "../../abi/records.h"
#include "../base/hash.h"
#include "../base/strings.h"

/* Bounds: a session comes from anywhere. What does not fit is left out, and counted. */
#define PROFILE_SAMPLES_MAX 1000000 /* told apart */
#define PROFILE_STACKS_MAX  4000000
#define PROFILE_FRAMES_MAX  1000000
#define PROFILE_INLINES_MAX 2000000
#define PROFILE_MODULES_MAX 100000
#define PROFILE_TASKS_MAX   500000 /* processes, threads */
#define PROFILE_TEXT_MAX    (256u << 20)
#define PROFILE_NAME_BYTES  2048
#define PROFILE_DEPTH_MAX   (KERNEL_FRAMES_MAX + USER_FRAMES_MAX)
#define PROFILE_INLINED_MAX 16	 /* at one address */
#define PROFILE_STEPS_MAX   1024 /* of one stack, what was inlined included */
#define PROFILE_STOPS	    32
#define PROFILE_KINDS	    8
#define PROFILE_NONE	    0xffffffffU /* as an index: there is none */

enum function_look {
	FUNCTION_USER,
	FUNCTION_KERNEL,
	FUNCTION_JIT,
	FUNCTION_UNNAMED,
	FUNCTION_MARK,	  /* none: says where a stack ended too early, or that there is none */
	FUNCTION_PROCESS, /* none: a process, above its stacks */
};

/* What is shown as one: a name in a module, or an address without one. */
struct profile_function {
	u32 name;   /* text, as it is shown */
	u32 module; /* index, or PROFILE_NONE */
	u32 look;   /* enum function_look */
};

struct profile_module {
	u64 id;	  /* the key */
	u32 kind; /* enum module_kind */
	u32 path, build_id;
};

struct profile_frame {
	u64 id; /* the key */
	u64 module_id, address;
	u32 name; /* text; 0: not known */
	u32 source, file, line;
	u32 first_inline, inline_count;
	u32 module, function; /* indices */
};

struct profile_inline {
	u64 frame;
	u32 depth; /* 0: the innermost */
	u32 name, file, line;
	u32 function;
};

/* A frame, and the stack of its caller. */
struct profile_stack {
	u64 id; /* the key */
	u64 parent_id, frame_id;
	u32 parent, frame; /* indices, or PROFILE_NONE */
	u32 first_sample;  /* index of one that has it; PROFILE_NONE: there is none */
};

struct profile_process {
	u64 pid, start_ns; /* the key */
	u32 comm;	   /* text */
	u32 function;	   /* "comm (pid)" */
	bool is_kernel;
};

struct profile_thread {
	u64 tid, start_ns; /* the key */
	u32 comm;
};

/* Samples that differ in nothing but the time of day. */
struct profile_sample {
	u64 process_start_ns, thread_start_ns;
	u64 stack, waker_stack; /* ids; 0: none */
	u32 pid, tid, waker;
	u8 kind, state, mode, stop;
	u8 waker_kind;
	u8 unused[7];
	/* the key ends here */
	u64 count;
	u64 weight_ns;
	double squares; /* sum over rows of weight² / count: see profile_effective() */
	u64 mismatches;
	u32 process; /* index */
	u32 next;    /* index of another with the same stack; PROFILE_NONE: no more */
};
#define PROFILE_SAMPLE_KEY __builtin_offsetof(struct profile_sample, count)

struct profile_sum {
	u64 count, weight_ns;
	double squares;
};

struct profile {
	struct strings strings;
	struct hash modules, frames, stacks, functions, processes, threads, samples;
	struct profile_inline *inlines; /* by frame, innermost first */
	size_t inline_count;
	char state_names[STATE_LIMIT][32];
	char stop_names[PROFILE_STOPS][32];
	u32 stop_marks[PROFILE_STOPS]; /* functions */
	u32 damaged_mark;
	struct profile_sum all;
	u64 by_stop[PROFILE_STOPS]; /* counts of what is not complete */
	u64 no_stack;		    /* nor is this: none was taken, and the stop does not say why */
	u64 complete, mismatches;   /* counts */
	struct profile_sum kernel;  /* of the kernel's own threads, which were not asked for */
	struct profile_sum no_room; /* what did not fit */
	u64 frames_no_room, stacks_no_room;
	u64 damaged; /* counts of samples whose stack is no path to a root */
	u64 started_real_ns, duration_ns;
};

void profile_init(struct profile *profile);
void profile_free(struct profile *profile);

/* Indices and functions, once all tables are in memory: 0 or -errno. */
int profile_finish(struct profile *profile);

/* One function on the way from the innermost outwards. */
struct profile_step {
	u32 function;
	u32 frame;	/* index; PROFILE_NONE: a mark */
	u32 file, line; /* where it was, or where it called the step before; 0: not known */
	bool is_inlined;
};

/* A frame's functions, innermost first; as many as there is room for: how many. */
size_t profile_frame_steps(const struct profile *profile, u32 index, struct profile_step *steps,
			   size_t room);

/*
 * The steps of a stack, innermost first: how many. A stack that is not complete ends in a mark that
 * says so. Bounded, whatever the session says of parents.
 */
size_t profile_steps(const struct profile *profile, u64 stack, u32 stop,
		     struct profile_step steps[PROFILE_STEPS_MAX]);

/* "name", or "module+0xaddress": the one place that decides how a frame is called. */
void profile_frame_label(const struct profile *profile, const struct profile_frame *frame,
			 char *buf, size_t size);

/* No sum turns round, whatever a file says: a part is never more than the whole. */
#define PROFILE_SUM_MAX (1ULL << 62)

static inline u64 profile_add(u64 a, u64 b)
{
	return a < PROFILE_SUM_MAX && b < PROFILE_SUM_MAX - a ? a + b : PROFILE_SUM_MAX;
}

/*
 * How many samples of equal weight would tell as much (Kish): (Σw)² / Σw². A row of count samples
 * has count times the weight over count.
 */
double profile_effective(const struct profile_sum *sum);

/* All of about one weight, as on a CPU: there are as many effective ones as samples. */
bool profile_is_even(const struct profile_sum *sum);
void profile_sum_add(struct profile_sum *sum, const struct profile_sample *sample);

bool profile_stop_is_complete(u32 stop);
const char *profile_kind_name(u32 kind); /* "cpu", "blocked" */

/* "blocked" is any of blocked.*, "blocked.lock" that one. */
bool profile_state_fits(const char *wanted, const char *state);

/* Does this state go with this kind of sample? Where it does not, the ledger was elsewhere. */
bool profile_state_is_of_kind(const char *state, u32 kind);

static inline const char *profile_text(const struct profile *profile, u32 text)
{
	return strings_get(&profile->strings, text);
}

static inline const struct profile_function *profile_function(const struct profile *profile,
							      u32 function)
{
	return hash_item(&profile->functions, function);
}

static inline const char *profile_function_name(const struct profile *profile, u32 function)
{
	return profile_text(profile, profile_function(profile, function)->name);
}

/* The file's name without its folders, or "". */
const char *profile_module_name(const struct profile *profile, u32 module);

static inline const struct profile_process *profile_process(const struct profile *profile,
							    const struct profile_sample *sample)
{
	return hash_item(&profile->processes, sample->process);
}

#endif
