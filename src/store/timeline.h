/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session as it went on: windows, processes, threads and labels in memory, and the rows of its
 * large tables one by one (timeline_rows.h). Owns what it has in memory, not the connection. Called
 * by whoever writes a session in another form, window by window; src/model/profile.h has its stacks
 * without their windows.
 */
#ifndef DWELL_STORE_TIMELINE_H
#define DWELL_STORE_TIMELINE_H

#include <sqlite3.h>
#include <stdbool.h>

#include "../../abi/records.h"
#include "../base/hash.h"
#include "../base/strings.h"
#include "session_part.h"
#include "windows.h"

/* Bounds: a session comes from anywhere. One with more is refused, and told. */
#define TIMELINE_WINDOWS_MAX 1000000
#define TIMELINE_TASKS_MAX   500000 /* processes; threads */
#define TIMELINE_LABELS_MAX  200000
#define TIMELINE_TEXT_MAX    (64u << 20)
#define TIMELINE_NAME_BYTES  1024
#define TIMELINE_NONE	     0xffffffffU

struct timeline_window {
	s64 id; /* the key */
	u64 begin_ns, end_ns;
	bool is_wanted; /* of the part that was asked for */
};

struct timeline_process {
	u64 pid, start_ns; /* the key */
	u32 comm, exe, service, container, pod;
	bool is_kernel;
};

struct timeline_thread {
	u64 id; /* the key */
	u64 pid, process_start_ns, tid, start_ns;
	u64 begin_ns, end_ns;
	u64 threads; /* 1; or the sum of that many */
	u32 comm;
	u32 process; /* index */
	bool is_kernel;
	bool is_sum;	/* of threads that have ended: it has no place in time */
	bool is_wanted; /* asked for */
};

struct timeline_label {
	u64 signal, id; /* the key */
	u32 name;
};

/* Facts of the run; 0: "", or not known. */
struct timeline_facts {
	u64 started_ns, started_real_ns, ended_ns;
	u32 host, kernel, version, machine;
};

struct timeline {
	sqlite3 *db;
	const struct session_part *part;
	struct strings strings;
	struct hash windows, processes, threads, labels;
	struct timeline_facts facts;
	char state_names[STATE_LIMIT][32]; /* escaped; "": no state has this number */
	u64 begin_ns, end_ns;		   /* of the windows that are wanted */
};

/* 0 or -errno, told. The part must outlive it. */
int timeline_read(sqlite3 *db, const struct session_part *part, const struct windows *windows,
		  struct timeline *ret_timeline);
void timeline_free(struct timeline *timeline);

static inline const char *timeline_text(const struct timeline *timeline, u32 text)
{
	return strings_get(&timeline->strings, text);
}

/* The time of day of a moment of the session, in ns; 0: the session does not know. */
u64 timeline_real_ns(const struct timeline *timeline, u64 ns);

/* What people deploy: the service; of what has none the command's name. NULL: of no process. */
const char *timeline_service(const struct timeline *timeline,
			     const struct timeline_process *process);

/* Of a series, which may belong to a command instead; "": to none. */
const char *timeline_service_of(const struct timeline *timeline, u64 pid, u64 start_ns);
const struct timeline_process *timeline_process(const struct timeline *timeline, u64 pid,
						u64 start_ns);
const struct timeline_window *timeline_window(const struct timeline *timeline, s64 id);

/* The name that a signal has for a number; NULL: none. */
const char *timeline_label(const struct timeline *timeline, u64 signal, u64 id);
const char *timeline_state(const struct timeline *timeline, u64 state);

/* By what was asked for with --pid, --tid and --kernel. */
bool timeline_wants(const struct timeline *timeline, u64 pid, u64 start_ns, u64 tid);
bool timeline_wants_state(const struct timeline *timeline, u64 state);

#endif
