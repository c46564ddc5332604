/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The person behind sudo, for whom root works: files that they ask for are made with their rights,
 * so that they own them, and so that root's rights open no place to them that is not theirs. Owns
 * nothing but what person_begin() put aside. Called by whoever makes files.
 */
#ifndef DWELL_BASE_PERSON_H
#define DWELL_BASE_PERSON_H

#include <stdbool.h>
#include <sys/types.h>

#include "caller.h"

struct person {
	bool is_behind_sudo; /* else we are who asks, and the rest says nothing */
	uid_t uid;
	gid_t gid;

	struct caller caller; /* while it acts: without file capabilities ... */
	gid_t *groups_before; /* ... or as the person behind sudo */
	int group_count_before;
};

void person_find(struct person *ret_person);

/* Is this who asks, or who we are? */
bool person_is_owner(const struct person *person, uid_t uid);

/*
 * From here until person_end() this thread touches files with the person's rights; nothing else
 * about it changes. Without anybody behind sudo these are the caller's own: 0 or -errno.
 */
int person_begin(struct person *person);
void person_end(struct person *person);

#endif
