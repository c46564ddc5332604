/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds dwell's own cost below a limit: it is given what the last stretch of time cost, and says
 * what to thin, to switch off, or to take back. Owns nothing but its own few numbers; called by
 * whoever measures, once per measurement.
 */
#ifndef DWELL_CAPTURE_GOVERNOR_H
#define DWELL_CAPTURE_GOVERNOR_H

#include <stdbool.h>

#include "../../abi/types.h"

/* Of `dwell record`, if nothing else is given. */
#define GOVERNOR_RECORD_LIMIT "5%"

/* Rates can be thinned to 1/2, 1/4, ... 1/2^n. */
#define GOVERNOR_RATES_MOST 4

#define GOVERNOR_THIN_SHARE 0.75 /* of the limit: rates are thinned above it */

/*
 * What can be reduced, in the order in which it is: first what costs precision only, and covers the
 * whole recording all the same; what is switched off comes after it.
 */
enum governor_rung {
	GOVERNOR_RATES,	  /* samples, stacks of waits, slow events: each level halves them */
	GOVERNOR_DETAIL,  /* what blocked threads wait for */
	GOVERNOR_SIGNALS, /* the signal, of those chosen by -s, that costs most */
	GOVERNOR_SPLIT,	  /* Tier B, of the process that costs most by it; at last of all */
	GOVERNOR_STACKS,  /* samples, and stacks of waits */
	GOVERNOR_RUNG_COUNT
};

enum governor_move {
	GOVERNOR_STAY,
	GOVERNOR_REDUCE,
	GOVERNOR_RESTORE,
	GOVERNOR_DETACH, /* nothing is left to reduce, and it has been too expensive for long */
};

struct governor_level {
	unsigned int now, most;
	double saved; /* share of the host's CPU time that the last level has saved */
};

struct governor {
	double limit; /* of the host's CPU time; 0: none */
	struct governor_level levels[GOVERNOR_RUNG_COUNT];
	bool has_begun;		    /* the first measurement was there */
	bool is_alert;		    /* look again soon: above the limit, or something is reduced */
	bool is_watching;	    /* what `watched` saves is seen with the next measurement */
	enum governor_rung watched; /* the last that was reduced */
	double before;		    /* the share before that */
	unsigned int strikes;	    /* measurements above the limit, one after the other */
	unsigned int calm;	    /* with room below it, likewise */
	unsigned int patience;	    /* so many of these before anything is restored */
	bool has_restored;	    /* since something was last reduced */
	bool restores_all;	    /* after this measurement, what fits; else one step */
	double expected;	    /* the share with what was restored after this measurement */
};

/* What to do: `levels` more or fewer of a rung. */
struct governor_order {
	enum governor_move move;
	enum governor_rung rung;
	unsigned int levels;
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
 * Thinning is cheap and can be undone, so each reading above the limit thins, the first one too; to
 * switch something off takes two in a row. What saves no more than there is room for comes back,
 * what was switched off before what was thinned: one step first, and with the next reading, if
 * there is still room, all the rest that fits. After a restored part was too expensive again, the
 * next attempt comes later, but within eight readings if dwell costs next to nothing: the load may
 * be over. levels[].now is the governor's; `most` is kept up to date by the caller, who knows how
 * many signals and processes are left.
 */
void governor_judge(struct governor *governor, const struct governor_reading *reading,
		    struct governor_order *ret_order);

/* After an order to restore something: true if there is more to restore at once. */
bool governor_restore_more(struct governor *governor, struct governor_order *ret_order);

/* The order could not be carried out: nothing has changed. */
void governor_refuse(struct governor *governor, const struct governor_order *order);

/* "1%", "0.1 %", "0.5": a percentage above 0 and up to 100: 0 or -EINVAL. */
int governor_parse(const char *text, double *ret_limit);

#endif
