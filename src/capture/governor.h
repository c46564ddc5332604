/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds dwell's own cost below a limit: it is told what the last measurement was, and says what
 * to give up next. Owns nothing but its own few numbers; called by whoever measures, once per
 * measurement.
 */
#ifndef DWELL_CAPTURE_GOVERNOR_H
#define DWELL_CAPTURE_GOVERNOR_H

#include <stdbool.h>

#include "../../abi/types.h"

/* For whoever follows the whole host, and says nothing else. */
#define GOVERNOR_HOST_LIMIT "1%"

/* In the order in which they are given up. */
enum governor_step {
	GOVERNOR_STAY,
	GOVERNOR_SIGNAL_OFF, /* the signal, of those chosen by -s, that costs most */
	GOVERNOR_SPLIT_OFF,  /* Tier B, of the process that costs most by it */
	GOVERNOR_STACKS_OFF, /* samples, and stacks of waits */
	GOVERNOR_DETAIL_OFF, /* what blocked threads wait for */
	GOVERNOR_DETACH,     /* everything */
};

struct governor {
	double limit; /* of the host's CPU time; 0: none */
	bool has_signals;
	bool has_split;
	bool has_stacks;
	bool has_detail;
	bool has_begun;	      /* the first measurement was there */
	bool is_alert;	      /* the last one was above the limit: look again soon */
	unsigned int strikes; /* measurements above the limit, one after the other */
};

/* What dwell cost in one stretch of time. */
struct governor_reading {
	u64 bpf_ns;	/* in its BPF programs */
	u64 user_ns;	/* in its own processes */
	u64 elapsed_ns; /* of wall-clock time */
	unsigned int cpus;
};

double governor_share(const struct governor_reading *reading);

/*
 * The first reading is no ground for a step: it has what the start costs once, such as the tables
 * of all programs that run already. It does ask for a second look. has_signals and has_split are
 * kept up to date by the caller, who knows whether a signal is left, and a process that has Tier B.
 */
enum governor_step governor_judge(struct governor *governor,
				  const struct governor_reading *reading);

/* "1%", "0.1 %", "0.5": a percentage above 0 and up to 100: 0 or -EINVAL. */
int governor_parse(const char *text, double *ret_limit);

#endif
