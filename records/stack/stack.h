/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks as a tree, on their way to the session: what was seen, and which of it the session's file
 * has. The next file of a recording gets each stack again when something in it refers to it. What
 * was not referred to for long is forgotten: ids are hashes of what they stand for, so what comes
 * back is written again as it was. So the book is bounded, and a recording is not.
 */
#ifndef DWELL_STACK_H
#define DWELL_STACK_H

#include "../../abi/records.h"
#include "../../src/base/recent.h"

/*
 * Also how many can be new in one window. Each is the limit of one of two tables (recent.h), which
 * grow as they are used; all of them full are 11 MB.
 */
#define STACK_NODES_MAX	  (64u << 10)
#define STACK_FRAMES_MAX  (32u << 10)
#define STACK_MODULES_MAX (16u << 10) /* as many as the resolver has at a time */
#define STACK_ENTRIES_MAX 1024

/*
 * What was not referred to for FORGET_WINDOWS is forgotten, if there are more. Few are kept,
 * however old: a thread may hold a stack for hours, an allocation that was never freed also.
 */
#define STACK_NODES_KEPT (STACK_NODES_MAX / 4)

/* Whether a file has an item, or will have it when the window ends. */
struct stack_told {
	u64 file; /* the last one that has it, by its number */
	u64 is_due;
};

struct stack_module {
	u64 number;   /* as the resolver has it */
	u64 identity; /* the same in every session; no other module of this one has it */
	struct stack_told told;
};

/* Whose an identity is, as long as the resolver has that module, so that ids stay what they are. */
struct stack_claim {
	u64 identity; /* as the resolver has it */
	u64 number;
};

struct stack_frame {
	u64 id;
	u64 address;
	u64 module;
	struct stack_told told;
};

struct stack_node {
	u64 id;
	u64 parent; /* id; 0: none */
	u64 frame;  /* id */
	u64 depth;
	struct stack_told told;
};

/* A place in the kernel that was innermost in a blocked stack. */
struct stack_entry {
	u64 address;
	u32 is_schedule; /* in __schedule itself */
	u32 is_wake_up;	 /* in try_to_wake_up itself */
};

struct resolver;
struct stack_ids;

struct stack_book {
	struct resolver *resolver;
	struct stack_ids *ids;
	u64 turned_away; /* stacks without a place, or without memory for one */
	u64 refused;	 /* records that contradict themselves */
	u64 unnamed;	 /* frames whose name was not there in time */
	u64 no_lines;	 /* frames whose line was refused */
	struct recent modules, frames, nodes;
	struct hash entries, claims;
	u64 file;    /* that is written, counted from 1 */
	u64 windows; /* since the last time that some were forgotten */
	size_t modules_due, frames_due, nodes_due; /* for it, when the window ends */
};

#endif
