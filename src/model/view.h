/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a signal that counts in series is to be read: what its measures are called, what the fields
 * of its keys mean, what it costs, and what it lists besides. Data, so that the store, the report,
 * JSON and the doctor treat all signals alike. Written by signals.
 */
#ifndef DWELL_MODEL_VIEW_H
#define DWELL_MODEL_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "../../abi/series.h"
#include "hist.h"

enum series_unit { UNIT_NS, UNIT_BYTES, UNIT_COUNT };

/* What a field of a key holds, and so how it is shown. */
enum field_kind {
	FIELD_NONE,    /* not used */
	FIELD_NUMBER,  /* itself */
	FIELD_NAME,    /* an index of names[] */
	FIELD_SYSCALL, /* as CALL_COMPAT has it */
	FIELD_STATE,   /* enum ledger_state */
	FIELD_OBJECT,  /* id of a rec_object */
	FIELD_DEVICE,  /* as the kernel numbers it: major << 20 | minor */
	FIELD_SIZE,    /* log2 of the size's class: up to 2^n bytes */
	FIELD_ADDRESS, /* in the process: shown with its symbol where there is one */
	FIELD_STACK,   /* key of a rec_stack; in a session, the stack's id */
	FIELD_ERRNO,
	FIELD_CPU,
	FIELD_LABEL, /* a row of the table `labels`: id, name; else a rec_object of this id */
};

struct series_field {
	const char *name; /* of the column, and in JSON */
	enum field_kind kind;
	const char *const *names; /* of FIELD_NAME */
	size_t name_count;
};

/* One measure: its place in the list is the key's kind. */
struct series_kind {
	const char *name;
	enum series_unit unit;
	const char *about; /* one line: from when to when */
};

/* The price, as people choose by it. */
enum cost_class {
	COST_FREE,	/* rides on what is there already */
	COST_CHEAP,	/* under 1 % of a core on a host that is not busy */
	COST_PER_EVENT, /* grows with what is done: the page has the figure */
	COST_DANGEROUS, /* may slow down what it measures; is sampled, or refused unless forced */
};

extern const char *const cost_names[]; /* by enum cost_class */

/* Rows that a signal lists besides its series: of a table of its own. */
struct signal_list {
	const char *name;    /* heading, and key in JSON */
	const char *about;   /* one line */
	const char *table;   /* one of the signal's own */
	const char *columns; /* SQL; its names say what is in it: src/report/text_signals.h,
				list_number() */
	const char *order;   /* SQL: the most interesting first */
	const char *group;   /* SQL: of GROUP BY; NULL: none */
	size_t shown;	     /* at most so many in text; JSON has up to 1,000 */
};

/* A series, read from a session: what a signal's own judgement gets to see. */
struct series_row {
	struct series_key key; /* FIELD_STACK is an id here */
	struct hist hist;
	u64 orphan_starts, orphan_ends, expired;
	u64 sums[SERIES_SUMS];
	const char *detail_name; /* as the report shows it; never NULL */
	const char *object_name; /* likewise */
	const char *process;	 /* "name (pid)", or "" */
};

struct series_set {
	const struct series_row *const *rows; /* the largest sum first */
	size_t count;
	u64 span_ns; /* that the session covers */
	u32 cpus;
	u64 tick_ns; /* of the host's scheduler; 0: not known */
};

#define REMARKS_MAX  16
#define REMARK_BYTES 320

struct remarks {
	char text[REMARKS_MAX][REMARK_BYTES];
	size_t count;
	int err; /* -ENOMEM: not all that there is to say is there */
};

/* One sentence; beyond REMARKS_MAX they are left out. */
void remark(struct remarks *remarks, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct signal_view {
	const struct series_kind *kinds;
	size_t kind_count;
	u32 estimates; /* bits of kinds that are made of samples, each of which stands for others */
	struct series_field detail, object, more; /* of the key */
	const char *bytes[SERIES_SUMS]; /* what else one measure sums: "asked"; NULL: not used */
	u32 bytes_of;			/* that measure */
	const char *value_names[2];	/* of rec_slow: "asked_bytes"; NULL: not used */
	u32 share;			/* of SERIES_MAX places, where all are wanted */
	enum cost_class cost;
	const char *price;     /* one line for people: "some 0.2 us for each system call" */
	const char *remedy;    /* what to do where its hooks are refused; NULL: the hook's own cause
				  says */
	const char *tick_mark; /* the scheduler's tick is marked on histograms, by this name; NULL:
				  it is not */
	bool needs_split;      /* Tier B's hooks are needed */
	bool is_not_offered;   /* not by -s: a command of its own has it */
	const struct signal_list *lists;
	size_t list_count;

	/* What the numbers say, in sentences; NULL: nothing beyond themselves. */
	void (*judge)(const struct series_set *set, struct remarks *remarks);
};

/* Does a measure have this sum beside its own? */
static inline bool view_bytes(const struct signal_view *view, u32 kind, u32 which)
{
	return view->bytes[which] && view->bytes_of == kind;
}

#endif
