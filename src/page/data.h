/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the page share while they are written: the session's digest, names, windows,
 * subjects, and what did not fit. Owns what it holds but the digest and the database. Called by
 * page.c and by the writers of parts.
 */
#ifndef DWELL_PAGE_DATA_H
#define DWELL_PAGE_DATA_H

#include <sqlite3.h>

#include "../report/digest.h"
#include "columns.h"
#include "part.h"

/* Bounds, so that a browser opens the page of a large session: limits[] tells what did not fit. */
#define PAGE_WINDOWS_MAX	    100000
#define PAGE_THREADS_MAX	    50000
#define PAGE_HOST_ROWS_MAX	    120000
#define PAGE_GROUP_ROWS_MAX	    250000
#define PAGE_THREAD_ROWS_MAX	    400000
#define PAGE_BUSIEST_MAX	    400 /* threads with shorter buckets, where there are many threads */
#define PAGE_BUSIEST_ROWS_MAX	    250000
#define PAGE_WAKE_ROWS_MAX	    200000
#define PAGE_NODES_MAX		    600000
#define PAGE_SAMPLE_ROWS_MAX	    500000
#define PAGE_SAMPLE_ROWS_MOST	    2000000 /* in memory: of these, the heaviest threads stay */
#define PAGE_GROUP_SAMPLE_ROWS_MAX  800000
#define PAGE_GROUP_SAMPLE_ROWS_MOST 2000000 /* in one bucket: then stacks are cut */
#define PAGE_SERIES_MAX		    5000
#define PAGE_VALUE_ROWS_MAX	    200000
#define PAGE_HISTOGRAM_ROWS_MAX	    300000
#define PAGE_TABLE_ROWS_MAX	    1000
#define PAGE_ENDPOINTS_MAX	    2000
#define PAGE_REQUESTS_MAX	    10000
#define PAGE_MARKS_MAX		    2000
#define PAGE_TEXT_MAX		    (64u << 20)

#define PAGE_NONE (-1) /* as an index: there is none */

/* The parts, in the order of the file. Each has a writer that takes what the session has. */
enum page_part {
#define PART(id, name) PART_##id,
#include "parts.def"
#undef PART
	PART_COUNT
};

struct page_window {
	u64 begin_ns, end_ns; /* since the session's start */
};

/* What of a part did not fit. */
struct page_limit {
	const char *part;
	u64 rows, limit, left_out;
	const char *text; /* of what left_out is a count */
};
#define PAGE_LIMITS_MAX 32
#define PAGE_TABS_MAX	32

/* Processes of one name in one service, or of one group of --group-by; opens with its key. */
struct page_group {
	u32 service, comm; /* names; of --group-by the group's, and "kernel" or none */
	/* the key ends here */
	u32 processes, threads;
	u32 kernel;
};

struct page_data {
	sqlite3 *db;
	const struct digest *digest;
	const char *file; /* the session's name */
	struct strings names;
	u64 names_left_out;

	struct page_window *windows;
	size_t window_count;
	struct hash by_window; /* places of windows by their ids */
	s64 first_window;
	bool is_counted; /* ids count up from the first one: no need to look them up */
	u64 window_ns;

	/* Places in the page by the digest's indices; PAGE_NONE: not in it. */
	s32 *thread_at, *process_at, *group_at; /* the last two by process */
	bool *is_busiest;			/* by thread of the digest */
	u32 thread_count, process_count;
	struct hash groups;   /* struct page_group */
	struct hash by_start; /* threads by tid and start: as samples name them */

	struct ledger_time *time; /* these three are page.c's */
	struct stack_tree *tree;
	struct sample_rows *samples;
	const char *tabs[PAGE_TABS_MAX]; /* that have a table */
	size_t tab_count;
	bool has_series; /* signals have values */
	struct page_limit limits[PAGE_LIMITS_MAX];
	size_t limit_count;
	struct part parts[PART_COUNT];
};

/* 0 or -errno; to be freed in any case. */
int page_data_init(struct page_data *data, sqlite3 *db, const struct digest *digest);
void page_data_free(struct page_data *data);

/* The number of a name; 0, counted, if there is no more room for names. */
u32 page_name(struct page_data *data, const char *text);

/* The place of a window by its id, or PAGE_NONE: not in what is shown. */
s32 page_window_at(const struct page_data *data, s64 id);

/* The last window that begins at that time or before it. */
u32 page_window_of(const struct page_data *data, u64 ns);

/* A time of the session's as one since its start. */
static inline u64 page_time(const struct page_data *data, u64 ns)
{
	return ns > data->digest->start_ns ? ns - data->digest->start_ns : 0;
}

/* A thread by tid and start, as samples name it, or NULL; its place in the page, or PAGE_NONE. */
const struct thread *page_find_thread(const struct page_data *data, u64 tid, u64 start_ns);
s32 page_thread_at(const struct page_data *data, u64 tid, u64 start_ns);
/* The last thread with this tid likewise, and a process. */
s32 page_tid_at(const struct page_data *data, u32 tid);
s32 page_pid_at(const struct page_data *data, u64 pid, u64 start_ns);
/* The last process with this pid. */
s32 page_last_pid_at(const struct page_data *data, u32 pid);

void page_limit(struct page_data *data, const char *part, u64 rows, u64 limit, u64 left_out,
		const char *text);

/* The opening of rows by bucket: how long a bucket is. Their columns and "}" follow. */
void page_write_bucket(const struct page_data *data, struct part *part, u32 windows);

/* The writers of parts: each fills its part, which page.c has begun: 0 or -errno. */
typedef int page_part_fn(struct page_data *data, struct part *part);
#define PART(id, name) page_part_fn page_write_##name;
#include "parts.def"
#undef PART

#endif
