/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits inside work, added up by what was waited for: of a group of processes, and for locks of one
 * process. Each with its parts by thread, object, holder and waker, exact and longest first. Owned
 * by whoever asks. Called by the rules that make findings.
 */
#ifndef DWELL_REPORT_WAITS_H
#define DWELL_REPORT_WAITS_H

#include "digest.h"

enum wait_kind {
	WAIT_NONE,
	WAIT_LOCK,
	WAIT_KERNEL_LOCK,
	WAIT_HANDOVER,
	WAIT_NET,
	WAIT_PIPE,
	WAIT_DISK,
	WAIT_DISK_HELD,
	WAIT_MEMORY,
	WAIT_PAGEIN,
	WAIT_TIMEOUT,
	WAIT_UNCLEAR,
};

struct wait {
	u32 group, kind; /* an index; enum wait_kind */
	u32 process;	 /* 1 + its index; 0: of all processes of the group */
	u32 state;
	char name[DIGEST_TEXT]; /* the object's, where each has a wait of its own */
	/* the key ends here */
	u64 ns, count;
	u32 worst; /* index of the process that waited longest */
	size_t first_part, part_count;
};
#define WAIT_KEY_BYTES __builtin_offsetof(struct wait, ns)

enum wait_role { ROLE_THREAD, ROLE_PROCESS, ROLE_OBJECT, ROLE_HOLDER, ROLE_WAKER };

struct wait_part {
	u32 wait, role;
	u64 id;	  /* index of a thread or process, object, tid */
	u64 more; /* of an object the call, of a waker its kind */
	/* the key ends here */
	u64 ns, count;
};
#define WAIT_PART_KEY_BYTES __builtin_offsetof(struct wait_part, ns)

struct waits {
	struct hash waits; /* struct wait */
	struct hash parts; /* struct wait_part, by wait and role, longest first */
};

/* 0 or -ENOMEM; to be freed in any case. */
int waits_find(const struct digest *digest, struct waits *ret_waits);
void waits_free(struct waits *waits);

/* The parts of one role, longest first: the first one, and how many. */
const struct wait_part *wait_parts(const struct waits *waits, const struct wait *wait,
				   enum wait_role role, size_t *ret_count);

/* Those who share a name are one. */
struct culprit {
	char name[DIGEST_TEXT]; /* a comm, or what a context is called; not escaped */
	u32 pid, tid;		/* of the one with most */
	u64 threads;
	u64 ns;
};
#define CULPRITS_MAX 512 /* names; short-lived programs may have one each */

/* Holders or wakers by name, longest first; those not known are left out: how many. */
size_t wait_culprits(const struct digest *digest, const struct waits *waits,
		     const struct wait *wait, enum wait_role role,
		     struct culprit culprits[CULPRITS_MAX]);

/* Adds to a list, by name. A name beyond CULPRITS_MAX is left out. */
void culprit_add(struct culprit culprits[CULPRITS_MAX], size_t *count, const char *name, u32 pid,
		 u32 tid, u64 ns);
void culprits_sort(struct culprit culprits[CULPRITS_MAX], size_t count);

/* Did it time out? Sleep that was asked for as such did not. */
bool cause_is_timeout(const struct digest *digest, u32 state, u32 call);

#endif
