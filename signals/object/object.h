/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that were named since the last window, on their way to the session. Also the name that
 * a person reads.
 */
#ifndef DWELL_OBJECT_H
#define DWELL_OBJECT_H

#include <stddef.h>

#include "../../abi/records.h"

#define OBJECTS_MAX	  8192 /* in one window */
#define OBJECT_NAME_BYTES (NAME_BYTES + 32)

struct object_list {
	u64 count;
	u64 turned_away; /* for want of room; their ids stay without a name */
	struct rec_object rows[OBJECTS_MAX];
};

/* A path, a peer, an inode: what is known best of it. */
void object_name(const struct rec_object *object, char *to, size_t size);

#endif
