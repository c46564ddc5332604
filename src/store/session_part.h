/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a session somebody asks for. Owns nothing. Filled by commands from their options.
 */
#ifndef DWELL_STORE_SESSION_PART_H
#define DWELL_STORE_SESSION_PART_H

#include <stdbool.h>
#include <stddef.h>

#include "../../abi/types.h"

#define SESSION_PART_IDS_MAX 256

struct session_part {
	u32 pids[SESSION_PART_IDS_MAX];
	size_t pid_count; /* 0: all */
	u32 tids[SESSION_PART_IDS_MAX];
	size_t tid_count;   /* 0: all */
	bool kernel;	    /* also the kernel's own threads */
	bool one_kind;	    /* of samples: the next field */
	u32 kind;	    /* enum sample_kind */
	const char *state;  /* of samples: this, or those that begin with it; NULL: all */
	u64 from_ns, to_ns; /* since the session's start; 0 and 0, or ~0: all */
};

/* Is it one of the list, or is there none? */
static inline bool session_part_lists(const u32 *list, size_t count, u64 value)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == value)
			return true;
	return !count;
}

static inline bool session_part_has_pid(const struct session_part *part, u64 pid)
{
	return session_part_lists(part->pids, part->pid_count, pid);
}

static inline bool session_part_has_tid(const struct session_part *part, u64 tid)
{
	return session_part_lists(part->tids, part->tid_count, tid);
}

#endif
