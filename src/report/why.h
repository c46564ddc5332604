/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The causes of all threads of a process as one. Owned by whoever asks. Called by the text, the
 * verdict and the JSON.
 */
#ifndef DWELL_REPORT_WHY_H
#define DWELL_REPORT_WHY_H

#include "digest.h"

#define WHY_CULPRITS 3
#define WHY_KINDS    16 /* of wakers: more than there are */

struct why_culprit {
	u32 tid, kind; /* enum waker_kind; of holders 0 */
	u64 ns;
};

/* A cause whose `thread` is the index of a process. */
struct why {
	struct cause cause;
	u32 worst; /* index of the thread that it kept longest */
	u64 worst_ns;
	u32 latest; /* the thread that was added last, and its time so far */
	u64 latest_ns;
	struct why_culprit holders[WHY_CULPRITS]; /* by time, longest first */
	struct why_culprit wakers[WHY_CULPRITS];  /* likewise */
	u64 kind_ns[WHY_KINDS];			  /* by the kind of waker */
};

/*
 * Who made it last, by time: ", held by worker-7 (4711)", ", woken by network (64 %)"; "" for
 * nobody who had at least half of it, or of holders a twentieth. Escaped.
 */
void why_blame(const struct digest *digest, const struct why *why, char *buf, size_t size);

/* Waits only, one lock as one cause whoever held it, of the threads that are shown and not dormant:
 * what is of interest first, each longest first. */
int why_find(const struct digest *digest, struct hash *ret_whys);

/* The same, longest first, whatever is of interest. */
void why_sort(struct hash *whys);

/* All causes of one process's threads that are shown, time on a CPU too, longest first. */
int why_of_process(const struct digest *digest, const struct process *process,
		   struct hash *ret_whys);

#endif
