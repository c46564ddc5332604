/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a session somebody asks for. Owns nothing. Filled by commands from their options.
 */
#ifndef DWELL_STORE_SESSION_PART_H
#define DWELL_STORE_SESSION_PART_H

#include <stdbool.h>
#include <stddef.h>

#include "../../abi/types.h"
#include "../base/hash.h"
#include "process_keys.h"

#define SESSION_PART_IDS_MAX 256
#define SESSION_PART_USERS   512 /* bytes of uids */

/* A process, as a key of the hash below. */
struct process_id {
	u64 pid, start_ns;
};

struct session_part {
	u32 pids[SESSION_PART_IDS_MAX];
	size_t pid_count; /* 0: all */
	u32 tids[SESSION_PART_IDS_MAX];
	size_t tid_count; /* 0: all */
	/* Of processes: comma-separated lists, by enum process_key; NULL: all */
	const char *keys[PROCESS_KEY_COUNT];
	char users[SESSION_PART_USERS]; /* where names of users were typed: their numbers */
	struct hash *chosen; /* struct process_id that fit them (process_filter.h); NULL: all */
	bool kernel;	     /* also the kernel's own threads */
	bool one_kind;	     /* of samples: the next field */
	u32 kind;	     /* enum sample_kind */
	const char *state;   /* of samples: this, or those that begin with it; NULL: all */
	u64 from_ns, to_ns;  /* since the session's start; 0 and 0, or ~0: all */
};

/* Is it one of the list, or is there none? */
static inline bool session_part_lists(const u32 *list, size_t count, u64 value)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == value)
			return true;
	return !count;
}

static inline bool session_part_has_process(const struct session_part *part, u64 pid, u64 start_ns)
{
	return session_part_lists(part->pids, part->pid_count, pid) &&
	       (!part->chosen ||
		hash_find(part->chosen, &(struct process_id){pid, start_ns}) != NULL);
}

/* Where the process's start is not known: any of this pid. */
bool session_part_has_pid(const struct session_part *part, u64 pid);

/* Is it less than all processes? */
static inline bool session_part_is_filtered(const struct session_part *part)
{
	return part->pid_count || part->chosen;
}

static inline bool session_part_has_tid(const struct session_part *part, u64 tid)
{
	return session_part_lists(part->tids, part->tid_count, tid);
}

#endif
