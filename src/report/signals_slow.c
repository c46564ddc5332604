// SPDX-License-Identifier: Apache-2.0
/* Events that were slow, the slowest of each signal. */
#include <errno.h>

#include "../base/cleanup.h"
#include "../store/query.h"
#include "digest.h"

static void read_event(sqlite3_stmt *row, struct slow_row *ret_slow)
{
	*ret_slow = (struct slow_row){
		.ts_ns = query_count(row, 1),
		.key = {.tgid = (u32)query_count(row, 4),
			.start_ns = query_count(row, 5),
			.detail = (u16)query_u64(row, 7),
			.object = query_u64(row, 8),
			.more = query_u64(row, 9)},
		.tid = (u32)query_count(row, 6),
		.ns = query_count(row, 10),
		.stack = query_u64(row, 11),
		.value = {query_u64(row, 12), query_u64(row, 13)},
	};
	for (int i = 0; i < SLOW_PART_COUNT; i++)
		ret_slow->part[i] = query_count(row, 14 + i);
}

static int on_slow(sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	int id = signals_column(row, 2), kind = -1;
	struct slow_row event, *slow;
	struct measured *of;
	bool is_kernel;
	char name[64];

	query_text(row, 3, name, sizeof(name));
	if (id)
		kind = signals_kind(signal_rows[id].signal->view, name);
	if (kind < 0 || !digest_window_is_in(digest, sqlite3_column_int64(row, 0)))
		return 0;
	read_event(row, &event);
	event.key.signal = (u8)id;
	event.key.kind = (u8)kind;
	if (!session_part_has_tid(&digest->options->part, event.tid) ||
	    !signals_want(digest, event.key.tgid, event.key.start_ns, &is_kernel))
		return 0;
	of = signals_find(&digest->signals, (u64)id);
	if (!of)
		return -ENOMEM;
	if (of->slow_count == SIGNALS_SLOW_MAX) {
		of->slow_left_out++;
		return 0;
	}
	slow = query_append(&of->slow, &of->slow_count, sizeof(*slow), SIGNALS_SLOW_MAX);
	if (!slow)
		return -ENOMEM;
	*slow = event;
	return 0;
}

int signals_read_slow(sqlite3 *db, struct digest *digest)
{
#define PART(NAME, name) ", " #name "_ns"
	return query_table(db, "slow",
			   "window, ts_ns, signal, kind, pid, start_ns, tid, detail, object, more, "
			   "ns, stack, value0, value1" SLOW_PARTS(PART),
			   "ns DESC, ts_ns", on_slow, digest);
#undef PART
}
