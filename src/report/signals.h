/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session has of signals that count in series: histograms by key, added up over the windows
 * that were asked for, events that were slow, and the signals' own lists. Part of the digest, which
 * owns it. Bounded, whatever the file says: what does not fit is added up and counted.
 */
#ifndef DWELL_REPORT_SIGNALS_H
#define DWELL_REPORT_SIGNALS_H

#include <sqlite3.h>
#include <stdbool.h>

#include "../base/hash.h"
#include "../model/profile.h"
#include "../model/signal.h"

struct digest;

#define SIGNALS_KEYS_MAX    500000 /* series that are told apart */
#define SIGNALS_ROWS_MAX    20000  /* of these with a histogram of their own: 6 KB each */
#define SIGNALS_ROWS_KIND   1300   /* of them, of one measure: all that a signal has at a time */
#define SIGNALS_SLOW_MAX    1000   /* of one signal */
#define SIGNALS_LABELS_MAX  100000
#define SIGNALS_LIST_MAX    1000 /* rows of a list */
#define SIGNALS_COLUMNS_MAX 16	 /* of a list */
#define SIGNALS_NAME_BYTES  512

/* A name that a signal has written for a number of its own; opens with its key. */
struct label_row {
	u64 signal, id;
	char name[128];
};

struct slow_row {
	struct series_key key; /* FIELD_STACK is an id here */
	u64 ts_ns, ns, stack;
	u64 value[2], part[SLOW_PART_COUNT];
	u32 tid;
};

enum list_cell_kind { LIST_NULL, LIST_NUMBER, LIST_REAL, LIST_TEXT };

struct list_cell {
	enum list_cell_kind kind;
	s64 number;
	double real;
	char *text; /* valid UTF-8, not escaped */
};

struct list_rows {
	char columns[SIGNALS_COLUMNS_MAX][48];
	size_t column_count;
	struct list_cell (*rows)[SIGNALS_COLUMNS_MAX];
	size_t row_count;
	bool is_cut; /* there are more */
};

/* The fields of a key that a view names. */
enum { FIELD_AT_DETAIL, FIELD_AT_OBJECT, FIELD_AT_MORE, FIELDS };

/* One of a signal's measures. */
struct measure {
	struct hist all; /* of all series */
	u64 orphan_starts, orphan_ends, expired;
	bool uses[FIELDS]; /* a field of the key is other than 0 in some series */
	size_t series;	   /* with a row of their own */
	size_t left_out;   /* series that have none: they are in `all` alone */
};

/* For a person: a series, or the sum of those that differ in nothing but processes of one name. */
struct alike_series {
	struct series_row *row;
	u64 processes; /* 2 or more: it is a sum, and has no pid */
};

/* A signal of the session. */
struct measured {
	u32 id;
	const char *name;
	const struct signal *signal;
	const struct signal_view *view;
	struct series_share share;
	struct measure *measures;   /* view->kind_count */
	struct series_row **rows;   /* largest sum first */
	struct alike_series *alike; /* the same for a person; NULL: not found yet */
	size_t alike_count;
	size_t row_count;
	struct slow_row *slow; /* slowest first */
	size_t slow_count;
	u64 slow_left_out;
	struct list_rows *lists; /* view->list_count */
	struct remarks remarks;
};

struct signals {
	struct measured *of;
	size_t count;
	struct hash labels; /* struct label_row */
	u64 unknown;	    /* series of a signal or measure that this dwell does not know */
	u64 kernel;	    /* values of the kernel's own threads, which were not asked for */
	u64 damaged;	    /* rows whose buckets are none */
};

int signals_read(sqlite3 *db, struct digest *digest);
void signals_free(struct signals *signals);

/* The parts of it. */
struct measured *signals_find(struct signals *signals, u64 id);
int signals_read_series(sqlite3 *db, struct digest *digest);
int signals_read_slow(sqlite3 *db, struct digest *digest);
int signals_read_lists(sqlite3 *db, struct digest *digest);
int signals_judge(struct digest *digest);
int signals_find_alike(const struct digest *digest, struct measured *of);
void signals_free_alike(struct measured *of);
void signals_free_lists(struct measured *of);

/* Is it of what --pid, --tid and --kernel leave? *ret_is_kernel: it is not, for the last. */
bool signals_want(const struct digest *digest, u64 pid, u64 start_ns, bool *ret_is_kernel);

/* The name of the signal in this column: its id, 0 if this dwell has no series of it. */
int signals_column(sqlite3_stmt *row, int column);

/* The measure of this name: its place, or -1. */
int signals_kind(const struct signal_view *view, const char *name);

/* Is it the one that stands for those without a place? */
static inline bool series_is_other(const struct series_key *key)
{
	return key->object == SERIES_OTHER;
}

/* The order of rows: largest sum first. */
int series_compare(const struct series_row *x, const struct series_row *y);

/* A field of the view, and its value; NULL: the measure does not use it, for a person. */
const struct series_field *series_field_at(const struct measured *of, const struct series_key *key,
					   int at, u64 *ret_value);

/* What a person reads for a field; "" if it is not used. Not escaped. */
void series_field_text(const struct digest *digest, const struct measured *of,
		       const struct series_field *field, u64 value, char *buf, size_t size);

/* The name of a process, "" if it is not known. Not escaped. */
const char *series_comm(const struct digest *digest, u64 pid, u64 start_ns);

/* "comm (pid)", "pid 12" or "", for no process. Not escaped. */
void series_process_text(const struct digest *digest, u64 pid, u64 start_ns, char *buf,
			 size_t size);

/* Which series it is, in few words: measure, if there are several, process, detail, object. Not
 * escaped. */
void series_row_text(const struct digest *digest, const struct measured *of,
		     const struct series_row *row, char *buf, size_t size);

/* "innermost < its caller < ...": so many functions at most. Not escaped. */
void series_stack_text(const struct digest *digest, u64 stack, size_t most, char *buf, size_t size);
void series_steps_text(const struct profile *profile, const struct profile_step *steps,
		       size_t count, char *buf, size_t size);

#endif
