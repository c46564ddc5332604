/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes by what --group-by names, and by service where it names nothing: the sums of their
 * ledgers. Called by the text and by JSON, each of which owns what it gets, and by the page.
 */
#ifndef DWELL_REPORT_GROUPS_H
#define DWELL_REPORT_GROUPS_H

#include "digest.h"

/* Opens with its key. */
struct process_group {
	char name[DIGEST_TEXT];
	/* the key ends here */
	u64 processes, threads;
	struct account account; /* of its threads that are shown */
	u64 work_ns;
};

/* Most work first: 0 or -ENOMEM. The caller frees it with hash_free(). */
int groups_find(const struct digest *digest, struct hash *ret_groups);

/* "service", "cgroup", "pid", ... */
const char *groups_by(const struct digest *digest);

/* The name of a process's group. */
void groups_name(const struct digest *digest, const struct process *process, char *to, size_t size);

/* As people type it, with NULL after the last: for --group-by. */
extern const char *const group_by_words[];

#endif
