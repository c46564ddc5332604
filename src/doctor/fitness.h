/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `dwell doctor FILE`: is a session fit to conclude from? What it says of its own quality is read,
 * then judged by checks, a function and a row each. Owns nothing. Called by `dwell doctor`, in the
 * process without privileges that reads sessions.
 */
#ifndef DWELL_DOCTOR_FITNESS_H
#define DWELL_DOCTOR_FITNESS_H

#include <jansson.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

#include "doctor.h"

#define FITNESS_LIST_BYTES 160
#define FITNESS_TOP	   10 /* functions that two halves of a session are compared by */

/* Names of some things, the first few of them. */
struct fitness_list {
	char text[FITNESS_LIST_BYTES];
	u64 count;
};

/* The top functions on a CPU, by the time in them alone, of even and odd windows. */
struct fitness_stability {
	u64 samples[2];
	u32 functions; /* in the longer of the two lists: FITNESS_TOP, or fewer if there are fewer
			*/
	u32 common;    /* in both */
	u64 common_weight; /* the time in these, of stack_weight */
};

struct fitness {
	char run_id[32];
	char cost_unknown[FITNESS_LIST_BYTES];
	bool has_end;	 /* else its writer was killed, or its disk was full */
	bool has_stacks; /* were asked for */
	u64 windows, wall_ns, cpus;
	u64 freq, min_block_ns;
	u64 steal_ns;
	u64 replaced; /* processes of dwell that died meanwhile */

	u64 lost;	  /* records, and entries that did not fit */
	u64 loss_windows; /* in which records were lost, by the cause with most of them */
	struct fitness_list losses;
	struct fitness_list silent, refused; /* hooks */
	struct fitness_list partial;	     /* parts that do not cover all of the time */
	double least_cover;		     /* of these: its share */
	u64 steps, thinned;		     /* 1 in so many was kept, at the worst */
	u64 bpf_ns, bpf_windows, user_cpu_ns, overhead_windows;
	u64 ledger_ns, unattributed_ns;

	u64 samples, incomplete; /* counts, of all kinds */
	u64 cpu_samples;	 /* counts */
	u64 stack_weight,
		unnamed_weight; /* on a CPU: in all with a stack, in functions without a name */
	struct fitness_stability stability;
};

int fitness_read(sqlite3 *db, struct fitness *ret_fitness); /* 0 or -errno, told */

/* The part of it that concerns samples. */
int fitness_read_samples(sqlite3 *db, struct fitness *fitness);

enum fitness_verdict { FITNESS_FIT, FITNESS_LIMITED, FITNESS_NOT, FITNESS_VERDICTS };

struct fitness_report {
	const char *session; /* its name */
	const struct fitness *fitness;
	struct check checks[CHECKS_MAX];
	size_t check_count;
	enum fitness_verdict verdict;
};

void fitness_judge(const char *session, const struct fitness *fitness,
		   struct fitness_report *ret_report);

void fitness_print(const struct fitness_report *report, bool color, bool brief, FILE *out);
json_t *fitness_to_json(const struct fitness_report *report);

#endif
