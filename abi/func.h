/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Places that `dwell trace` looks at: what user space tells the kernel side of each. A place is
 * known by its number, which is the cookie of its link; without cookies (before 5.15) there is one.
 */
#ifndef DWELL_ABI_FUNC_H
#define DWELL_ABI_FUNC_H

#include "types.h"

#define FUNC_PLACES_MAX	  256
#define FUNC_DEPTH_MAX	  64 /* calls of one thread that are open; the kernel keeps as many */
#define FUNC_ARGS_MAX	  6
#define FUNC_FENTRY_PLACE 0 /* the one function of the kernel that has programs of its own */
#define FUNC_POOLS_MAX	  1
#define FUNC_COMMS_MAX	  1024 /* names of threads that were told */

/* Labels of user space are small numbers; with a thread's name they are hashes below 2^63. */
#define FUNC_LABEL_OF_COMM (1ULL << 62)

/* What a hit of a place means. */
enum func_role {
	FUNC_NONE,
	FUNC_CALL,    /* a call begins; its return is told by another program */
	FUNC_COUNT,   /* it is counted, no more */
	FUNC_FROM,    /* a span begins ... */
	FUNC_TO,      /* ... and ends */
	FUNC_ENQUEUE, /* a task of a pool is put into its queue, */
	FUNC_START,   /* a worker takes it, */
	FUNC_END,     /* and is done with it */
};

/* By what its calls are told apart: the key's field `more`. */
enum func_by { FUNC_BY_NOTHING, FUNC_BY_ARG, FUNC_BY_RETURN, FUNC_BY_COMM, FUNC_BY_STACK };

/* The measures, in the order of the signal's view: KIND(NAME, name, unit, about). */
#define FUNC_KINDS(KIND)                                                                           \
	KIND(CALL, call, UNIT_NS, "from when it was called until it returned")                     \
	KIND(HIT, hit, UNIT_COUNT, "each time that it was reached")                                \
	KIND(SPAN, span, UNIT_NS, "from the one probe to the other")                               \
	KIND(QUEUEING, queueing, UNIT_NS, "from when a task was queued until a worker took it")    \
	KIND(IDLE_QUEUEING, idle_queueing, UNIT_NS,                                                \
	     "the same, of tasks that were queued while a worker was idle")                        \
	KIND(EXECUTION, execution, UNIT_NS, "from when a worker took a task until it was done")    \
	KIND(BLOCKED, blocked, UNIT_NS, "of the execution: the worker was blocked")                \
	KIND(RUNNABLE, runnable, UNIT_NS, "of the execution: the worker waited for a CPU")         \
	KIND(SOJOURN, sojourn, UNIT_NS, "from when a task was queued until it was done")           \
	KIND(DEPTH, depth, UNIT_COUNT, "tasks in the queue, with the new one, at each enqueue")    \
	KIND(ACTIVE, active, UNIT_COUNT, "workers that had a task, at each enqueue")               \
	KIND(IDLE, idle, UNIT_COUNT, "workers that had none, at each enqueue")

enum func_kind {
#define KIND(NAME, ...) FUNC_KIND_##NAME,
	FUNC_KINDS(KIND)
#undef KIND
		FUNC_KIND_COUNT
};

/* What a function returned, as far as a register tells that does not know its type. */
#define FUNC_CLASSES(CLASS)                                                                        \
	CLASS(UNKNOWN, "")                                                                         \
	CLASS(ZERO, "zero")                                                                        \
	CLASS(POSITIVE, "positive")                                                                \
	CLASS(MINUS_ONE, "-1")                                                                     \
	CLASS(ERRNO, "-errno")                                                                     \
	CLASS(NEGATIVE, "negative")                                                                \
	CLASS(POINTER, "pointer")

enum func_class {
#define CLASS(NAME, name) FUNC_RETURNS_##NAME,
	FUNC_CLASSES(CLASS)
#undef CLASS
		FUNC_CLASS_COUNT
};

/* Where an argument is when the place is reached. */
enum func_arg_kind {
	FUNC_ARG_NONE,
	FUNC_ARG_REGISTER,
	FUNC_ARG_MEMORY, /* of the user, at register + value */
	FUNC_ARG_CONSTANT,
	FUNC_ARG_CONTEXT, /* value: where in what a tracepoint hands to its program */
};

struct func_arg {
	u8 kind;  /* enum func_arg_kind */
	u8 place; /* of the register, in words of struct pt_regs */
	s8 size;  /* in bytes; negative: it has a sign */
	u8 unused[5];
	s64 value;
};

#define FUNC_KEY_TID	0 /* 1 to FUNC_ARGS_MAX: the argument */
#define FUNC_KEY_RETURN 7

struct func_spec {
	u64 label; /* the series' object: a row of the table `labels` */
	u8 role;   /* enum func_role */
	u8 by;	   /* enum func_by */
	u8 by_arg; /* 1 to FUNC_ARGS_MAX */
	u8 key;	   /* of what ties two ends together: FUNC_KEY_* */
	u8 is_kernel;
	u8 has_class; /* calls are told apart by what they returned */
	u8 slots;     /* fentry: arguments that the function has; what it returned is after them */
	u8 unused;
	struct func_arg args[FUNC_ARGS_MAX];
};

#endif
