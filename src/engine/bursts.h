/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's clock on our programs, which costs as much as some of them: so it is on in bursts,
 * and what they cost is what they did meanwhile. Others may have it on for longer, for themselves,
 * and the kernel adds that to our programs, too: it is not counted here.
 * Owns the descriptor that keeps the clock on. Called by metadata.c.
 */
#ifndef DWELL_ENGINE_BURSTS_H
#define DWELL_ENGINE_BURSTS_H

#include "../base/clock.h"
#include "../capture/cost.h"

/*
 * At times that are drawn anew for each window, one in each half of it: so nothing that happens
 * once a second is always in them, or never.
 */
#define BURST_NS	    (40 * NS_PER_MS)
#define BURSTS_A_WINDOW	    2
#define BURST_EVERY	    8 /* windows: how often the cost is judged, and a read-out measured */
#define BURST_EVERY_LIMITED 4 /* the same where the cost is held below a limit */

struct burst_plan {
	u64 begin_ns, end_ns;
};

struct bursts {
	const struct capture *capture;
	const struct probe *probes;
	size_t probe_count;
	int stats_fd;	    /* negative: none is under way */
	int stats_err;	    /* why none can be; 0: they can */
	char why_none[256]; /* the same in words */
	bool is_limited;    /* by --max-overhead */
	bool is_judged;	    /* the window under way is one of those by which the cost is judged */
	u64 random;	    /* state of the generator */
	u64 begin_ns;	    /* of the one under way */
	u64 end_ns;	    /* when it is long enough */
	u64 measured_ns;    /* how long the clock was on, in windows that are over */
	struct burst_plan plan[BURSTS_A_WINDOW]; /* of the window under way, in this order */
	size_t planned;				 /* so many of these are begun, or given up */
	u64 hooks_ns;				 /* of all hooks, in this window's bursts */
	u64 window_ns;				 /* how long it was on in this window */
	bool is_read_out;			 /* the one under way is of the read-out */
	u64 read_out_ns;      /* what a read-out costs at hooks: the last that was measured */
	u64 read_out_span_ns; /* and how long it took */
	struct probe_cost begins[CAPTURE_PROBES_MAX];
	struct probe_cost sums[CAPTURE_PROBES_MAX]; /* of all bursts of this file */
	u64 misses_before[CAPTURE_PROBES_MAX];	    /* in earlier files */
	bool were_off[CAPTURE_PROBES_MAX]; /* detached when the file began: no wonder if silent */
	bool is_repeated[CAPTURE_PROBES_MAX]; /* an earlier one has the same program */
	u64 windows[CAPTURE_PROBES_MAX];      /* nanoseconds, in this window's */
	u64 read_outs[CAPTURE_PROBES_MAX];    /* of read_out_ns, what each has */
	u64 scaled[CAPTURE_PROBES_MAX]; /* of all windows with a burst, each as if it were one */
};

/* The first burst. probes are those of the capture, in its order, and stay. */
void bursts_open(struct bursts *bursts, const struct capture *capture, const struct probe *probes,
		 size_t probe_count);
void bursts_end(struct bursts *bursts);

/* When the burst under way is long enough, or the next one begins; to be looked at then. */
u64 bursts_due(const struct bursts *bursts);
void bursts_look(struct bursts *bursts);

/*
 * Around the read-out at a window's end, which is no sample of the window: what is done then is
 * done once. A burst that is under way is over; now and then the read-out has one of its own.
 */
void bursts_read_out_begin(struct bursts *bursts);
void bursts_read_out_end(struct bursts *bursts);

/*
 * What was spent at hooks in a window of this length: its bursts as if they had lasted as long as
 * it did without the read-out, and the read-out. Iterators are not in it: this process runs them,
 * so they are in its CPU time.
 */
u64 bursts_hooks_ns(const struct bursts *bursts, u64 elapsed_ns);

/* A window of this length is over; what is planned for the one after it, which ends at until_ns.
 * is_wanted: somebody asks for its cost. */
void bursts_next_window(struct bursts *bursts, u64 elapsed_ns);
void bursts_plan(struct bursts *bursts, u64 window, u64 until_ns, bool is_wanted);

/* Another file of the recording begins: it has its own sums. */
void bursts_renew(struct bursts *bursts);

#endif
