/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's clock on our programs, which costs as much as some of them: so it is on in bursts,
 * and what they cost is what they did meanwhile. Others may have it on for longer, for themselves,
 * and the kernel adds that to our programs, too: it is not counted here.
 * Owns the descriptor that keeps the clock on. Called by minutes.c.
 */
#ifndef DWELL_CMD_BURSTS_H
#define DWELL_CMD_BURSTS_H

#include "../base/clock.h"
#include "../capture/cost.h"

#define BURST_NS	    (NS_PER_S / 10)
#define BURST_DELAY_NS	    (3 * NS_PER_S / 10) /* after the read-out, which is not typical */
#define BURST_EVERY	    8			/* windows */
#define BURST_EVERY_LIMITED 4			/* where the cost is held below a limit */
#define BURST_MORE_MAX	    10			/* windows more, while a hook has not fired yet */

struct bursts {
	const struct capture *capture;
	const struct probe *probes;
	size_t probe_count;
	int stats_fd;	    /* -1: none is under way */
	bool is_limited;    /* by --max-overhead */
	u64 begin_ns;	    /* of the one under way */
	struct cost begin;  /* of all programs, when it began */
	u64 measured_ns;    /* how long the clock was on, in windows that are over */
	u64 more;	    /* so many bursts beyond the regular ones */
	u64 planned_ns;	    /* when the next one begins; 0: none is planned */
	struct cost window; /* of all programs, in this window's */
	u64 window_ns;	    /* how long it was on in this window */
	struct probe_cost begins[CAPTURE_PROBES_MAX];
	struct probe_cost sums[CAPTURE_PROBES_MAX]; /* of all bursts */
	u64 windows[CAPTURE_PROBES_MAX];	    /* nanoseconds, in this window's */
	u64 scaled[CAPTURE_PROBES_MAX]; /* of all windows with a burst, each as if it were one */
};

/* The first burst. probes are those of the capture, in its order, and stay. */
void bursts_open(struct bursts *bursts, const struct capture *capture, const struct probe *probes,
		 size_t probe_count);
void bursts_end(struct bursts *bursts);

/* When the burst under way is long enough, or the next one begins; to be looked at then. */
u64 bursts_due(const struct bursts *bursts);
void bursts_look(struct bursts *bursts);

/* What was spent at hooks in the window's burst. Iterators are not in it: this process runs them,
 * so they are in its CPU time, and as they run once a window, a burst that has them is no sample.
 */
u64 bursts_hooks_ns(const struct bursts *bursts);

/* A window of this length is over; whether there is a burst in the one after it. is_wanted:
 * somebody asks. */
void bursts_next_window(struct bursts *bursts, u64 elapsed_ns);
void bursts_plan(struct bursts *bursts, u64 window, bool is_wanted);

/* What was spent in the window's burst, as if that had lasted as long as the window. */
u64 bursts_scale(const struct bursts *bursts, u64 ns, u64 elapsed_ns);

#endif
