/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which windows of a session are in a part of it. Owns nothing. Called by whoever reads sessions.
 */
#ifndef DWELL_STORE_WINDOWS_H
#define DWELL_STORE_WINDOWS_H

#include <sqlite3.h>
#include <stdbool.h>

#include "../../abi/types.h"
#include "session_part.h"

struct windows {
	u64 from_ns, to_ns; /* asked for, since the session's start; 0 and 0, or ~0: all */
	u64 start_ns;	    /* of the session; 0: its first window's */
	/* What windows_read() finds: whole windows. */
	bool is_slice;	      /* not all were asked for */
	u64 begin_ns, end_ns; /* that they cover */
	u64 count;
	s64 first, last; /* ids */
};

/* With from_ns, to_ns and start_ns set: 0 or -errno, told. */
int windows_read(sqlite3 *db, struct windows *windows);

/* Those of a part, with the session's start read too: as above; -ENODATA, told: there are none. */
int windows_of_part(sqlite3 *db, const struct session_part *part, struct windows *ret_windows);

#endif
