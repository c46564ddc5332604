// SPDX-License-Identifier: Apache-2.0
#include "windows.h"

#include <errno.h>
#include <string.h>

#include "../base/log.h"
#include "../base/text.h"
#include "query.h"

/* A window is in the part that was asked for if half of it is, or half of the part is in it. */
static bool is_in_part(const struct windows *windows, u64 begin_ns, u64 end_ns)
{
	u64 from_ns = windows->start_ns + windows->from_ns, to_ns = ~0ULL;
	u64 first, last, shorter;

	if (windows->to_ns < ~0ULL - windows->start_ns)
		to_ns = windows->start_ns + windows->to_ns;
	first = begin_ns > from_ns ? begin_ns : from_ns;
	last = end_ns < to_ns ? end_ns : to_ns;
	if (first >= last)
		return false;
	shorter = end_ns - begin_ns < to_ns - from_ns ? end_ns - begin_ns : to_ns - from_ns;
	return last - first >= shorter / 2;
}

static int on_window(sqlite3_stmt *row, void *context)
{
	struct windows *windows = context;
	s64 id = sqlite3_column_int64(row, 0);
	u64 begin_ns = query_count(row, 1), end_ns = query_count(row, 2);

	if (!windows->start_ns)
		windows->start_ns = begin_ns;
	if (windows->is_slice && !is_in_part(windows, begin_ns, end_ns))
		return 0;
	if (!windows->count++) {
		windows->first = windows->last = id;
		windows->begin_ns = begin_ns;
	}
	windows->first = id < windows->first ? id : windows->first;
	windows->last = id > windows->last ? id : windows->last;
	windows->end_ns = end_ns > windows->end_ns ? end_ns : windows->end_ns;
	return 0;
}

int windows_read(sqlite3 *db, struct windows *windows)
{
	windows->is_slice = windows->from_ns || (windows->to_ns && windows->to_ns != ~0ULL);
	return query_table(db, "windows", "id, begin_ns, end_ns", "begin_ns", on_window, windows);
}

static int on_start(sqlite3_stmt *row, void *context)
{
	struct windows *windows = context;
	char key[32], value[32];

	query_text(row, 0, key, sizeof(key));
	query_text(row, 1, value, sizeof(value));
	if (!strcmp(key, "started_ns"))
		(void)text_parse_u64(value, 0, 1ULL << 62, &windows->start_ns);
	return 0;
}

int windows_of_part(sqlite3 *db, const struct session_part *part, struct windows *ret_windows)
{
	int err;

	*ret_windows = (struct windows){.from_ns = part->from_ns, .to_ns = part->to_ns};
	err = query_table(db, "meta", "key, value", NULL, on_start, ret_windows);
	if (!err)
		err = windows_read(db, ret_windows);
	if (err || !ret_windows->is_slice || ret_windows->count)
		return err;
	log_error("no window of the session is in the part that was asked for");
	return -ENODATA;
}
