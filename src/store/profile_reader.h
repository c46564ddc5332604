/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The samples and stacks of a session into memory (model/profile.h). Owns nothing. Here, and not in
 * the report, because exporters read them too: the two may include store, not each other.
 */
#ifndef DWELL_STORE_PROFILE_READER_H
#define DWELL_STORE_PROFILE_READER_H

#include <sqlite3.h>

#include "../model/profile.h"
#include "session_part.h"
#include "windows.h"

/* What is wanted; all zeroes: all but the kernel's own threads. */
struct profile_filter {
	const u32 *pids, *tids;
	size_t pid_count, tid_count;
	const struct hash *chosen; /* struct process_id; NULL: all */
	bool kernel;		   /* also the kernel's own threads */
	bool one_kind;		   /* of samples: the next field */
	u32 kind;		   /* enum sample_kind */
	bool only_stacks;	   /* frames and stacks, without samples */
	const char *state;	   /* as in the ledger, or the beginning of several; NULL: all */
	const struct windows *windows; /* those of a part; NULL: all */
	/* Names frames that have none, once all is read; 0 or -errno, told. NULL: they stay so */
	int (*name_frames)(struct profile *profile, const void *name_request);
	const void *name_request;
};

/* The rest of it stays empty. The part must outlive it. */
struct profile_filter profile_filter_of(const struct session_part *part);

/* 0 or -errno, told. A session without samples has an empty profile. */
int profile_read(sqlite3 *db, const struct profile_filter *filter, struct profile *ret_profile);

#endif
