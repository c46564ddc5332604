/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of objects: those that came since the last window, on their way to the session, and those
 * that the next file of a recording may need. Also the name that a person reads.
 */
#ifndef DWELL_OBJECT_H
#define DWELL_OBJECT_H

#include <stddef.h>

#include "../../abi/records.h"
#include "../../src/base/recent.h"

#define OBJECTS_MAX	  8192		    /* in one window; at least the last so many are known */
#define OBJECTS_KEPT	  (OBJECTS_MAX / 4) /* however old they are */
#define OBJECT_NAME_BYTES (NAME_BYTES + 32)

struct object_entry {
	u64 id;
	u64 file; /* the last one that has it, by its number */
	u32 is_due;
	u32 kind;
	u32 peer_pid; /* 0: none */
	u32 unused;
	char name[OBJECT_NAME_BYTES];
};

struct object_book {
	u64 turned_away; /* for want of room; their ids stay without a name */
	u64 file;	 /* that is written, counted from 1 */
	u64 windows;	 /* since the last time that some were forgotten */
	size_t due;
	struct recent entries; /* struct object_entry */
};

/* A path, a peer, an inode: what is known best of it. */
void object_name(const struct rec_object *object, char *to, size_t size);

#endif
