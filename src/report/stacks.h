/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The samples of a profile added up: by stack, by function or module, by kind and state. Owned by
 * whoever asks. Called by the text and the JSON.
 */
#ifndef DWELL_REPORT_STACKS_H
#define DWELL_REPORT_STACKS_H

#include "digest.h"

/* Samples of a process with one stack in one state; opens with its key. */
struct hot_stack {
	u64 stack;   /* id; 0: none was taken */
	u32 process; /* index, of the profile's */
	u8 kind, state, stop;
	u8 unused;
	/* the key ends here */
	struct profile_sum sum;
};

/* Who ended waits, and from where. */
struct hot_waker {
	u64 stack; /* id; 0: not taken */
	u32 tid;
	u32 kind; /* enum waker_kind */
	/* the key ends here */
	struct profile_sum sum;
};

/* Heaviest first. Samples without a stack too: 0 or -ENOMEM. */
int stacks_find(const struct profile *profile, struct hash *ret_stacks);

/*
 * Of one stack that is in the session, heaviest first; without those of whom nothing is known: 0 or
 * -ENOMEM.
 */
int stacks_wakers(const struct profile *profile, const struct hot_stack *stack,
		  struct hash *ret_wakers);

/*
 * For a person: samples in one state whose stacks read alike. Their functions are the same, however
 * deep a recursion is, and so are the names of their processes. Opens with its key.
 */
struct alike_stacks {
	u64 functions; /* a hash of them */
	u32 comm;      /* text */
	u8 kind, state, stop;
	u8 unused;
	/* the key ends here */
	u64 stack; /* id of the one with the heaviest sample */
	u64 heaviest_ns;
	u32 process;  /* index of one of them */
	bool is_many; /* processes */
	struct profile_sum sum;
};

/* As the two above; but no samples without a stack. */
int stacks_find_alike(const struct profile *profile, struct hash *ret_stacks);
int stacks_wakers_alike(const struct profile *profile, const struct alike_stacks *stacks,
			struct hash *ret_wakers);

/* A kind of samples in a state. */
struct stack_group {
	u32 kind, state;
	struct profile_sum sum;
};

#define STACK_GROUPS_MAX (PROFILE_KINDS * STATE_LIMIT)

/* Heaviest first, waiting for work last: how many. */
size_t stacks_groups(const struct profile *profile, struct stack_group groups[STACK_GROUPS_MAX]);

/* A function, or a module, in the stacks of a group. */
struct stack_part {
	u32 index; /* the key: of the function or the module; PROFILE_NONE: of no module */
	u32 latest;
	struct profile_sum self;  /* of samples in which it is the innermost */
	struct profile_sum total; /* of samples in which it is, each once */
	double weighted; /* 1 as the innermost, ½ as its caller, ¼ ...: times the weight */
};

/* The parts of one group, in order of what is asked for, and the sum of `weighted`. */
int stacks_parts(const struct profile *profile, const struct stack_group *group,
		 const struct report_options *options, struct hash *ret_parts,
		 double *ret_weighted);

#endif
