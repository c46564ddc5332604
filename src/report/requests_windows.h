/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows of the session in which the time of a request is. Owns the list. For whoever compares a
 * request with sums of windows.
 */
#ifndef DWELL_REPORT_REQUESTS_WINDOWS_H
#define DWELL_REPORT_REQUESTS_WINDOWS_H

#include <sqlite3.h>
#include <stdbool.h>

#include "../../abi/types.h"

#define REQUEST_WINDOWS_MAX 16 /* of a request: longer ones are not looked at */

struct window_row {
	s64 id;
	u64 begin_ns, end_ns;
};

struct window_list {
	struct window_row *rows; /* by id */
	size_t count;
};

struct request_windows {
	const struct window_row *rows;
	size_t count;
	bool has_before; /* the first is the one before those of the request */
};

int window_list_read(sqlite3 *db, struct window_list *list);
void window_list_free(struct window_list *list);

/*
 * Those in which its thread's time from begin to end may be, and the one before: a thread is read a
 * little after a window's end, and a wait that ends in the first one may have begun before it.
 * False: there are none, too many, or one of them is missing.
 */
bool request_windows_find(const struct window_list *list, u64 begin_ns, u64 end_ns,
			  struct request_windows *ret_windows);

#endif
