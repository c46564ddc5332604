/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks as a tree, on their way to the session: what was seen, and how much of it has been told.
 * What was told may be forgotten: ids are hashes of what they stand for, so what comes back is
 * written again as it was. So the book is bounded, and a session is not.
 */
#ifndef DWELL_STACK_H
#define DWELL_STACK_H

#include "../../abi/records.h"
#include "../../src/base/hash.h"

/* All books grow as they are used; all of them full are 7 MB. */
#define STACK_NODES_MAX	  (128u << 10)
#define STACK_FRAMES_MAX  (64u << 10)
#define STACK_MODULES_MAX 8192
#define STACK_ENTRIES_MAX 1024

struct stack_module {
	u64 number;   /* as the resolver has it */
	u64 identity; /* the same in every session; no other module of this one has it */
};

/* Whose an identity is. Never forgotten, so that ids stay what they are. */
struct stack_claim {
	u64 identity; /* as the resolver has it */
	u64 number;
};

struct stack_frame {
	u64 id;
	u64 address;
	u64 module;
};

struct stack_node {
	u64 id;
	u64 parent; /* id; 0: none */
	u64 frame;  /* id */
	u64 depth;
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
	struct hash modules, frames, nodes, entries, claims;
	size_t modules_told, frames_told, nodes_told; /* items that the session has */
};

#endif
