/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session as a person or a program reads it: data quality first, then a verdict, where the time
 * went, why, and how to run it again. Owns nothing. Called by the commands that have a session.
 */
#ifndef DWELL_REPORT_REPORT_H
#define DWELL_REPORT_REPORT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

#include "../../abi/types.h"
#include "../store/session_part.h"
#include "../symbolize/fetched_names.h"

enum stacks_by { STACKS_BY_TREE, STACKS_BY_FUNCTION, STACKS_BY_MODULE };
enum stacks_sort { STACKS_SORT_SELF, STACKS_SORT_TOTAL, STACKS_SORT_WEIGHTED };

/* What --group-by takes beside the keys of processes. */
enum group_by { GROUP_BY_PID = PROCESS_KEY_COUNT, GROUP_BY_COUNT };

struct report_options {
	bool json;
	struct session_part part;
	bool execs;   /* each exec instead of the report; with json, beside it */
	bool cpus;    /* each CPU instead of the report */
	bool threads; /* threads below their processes */
	bool stacks;  /* stacks instead of the report */
	bool color;
	int columns; /* 0: 80 */
	bool whole;  /* names are not cut, however long: the output is no terminal */
	u32 top;     /* rows of each table; 0: as many as it usually has */
	enum stacks_by by;
	enum stacks_sort sort;
	u32 group_by;	 /* 1 + enum group_by or enum process_key; 0: by service, and not shown */
	const char *why; /* opens this state instead of the report; NULL: none */
	u64 signals;	 /* these alone instead of the report, by 1 << id; 0: none */
	bool histograms; /* of each series, not only of all together */
	bool requests;	 /* endpoints and their budgets, instead of the report */
	u32 slowest;	 /* so many requests that were kept, one by one; 0: none, JSON has some */
	struct fetch_request debuginfod;
	const char *session; /* its file's name, for the hint at the end; NULL: it was not kept */
};

/* Prints the report of an open session: 0 or -errno, with the reason told. */
int report_print(sqlite3 *db, const struct report_options *options, FILE *out);

/*
 * A part of a session as people type it, "10s-20s", "-500ms", "1.5-" (seconds): 0 or -EINVAL.
 * An end that is not given is 0 or ~0.
 */
int report_parse_slice(const char *text, u64 *ret_from_ns, u64 *ret_to_ns);

#endif
