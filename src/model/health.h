/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pipeline's own health, as data: what was sent, what arrived, what was lost and why.
 * Owns nothing. Filled by capture, shown by whoever shows the result.
 */
#ifndef DWELL_MODEL_HEALTH_H
#define DWELL_MODEL_HEALTH_H

#include "../../abi/types.h"

enum loss {
#define LOSS(NAME, ...) LOSS_##NAME,
#include "../../abi/losses.def"
#undef LOSS
	LOSS_COUNT
};

extern const char *const loss_names[LOSS_COUNT];
extern const char *const loss_meanings[LOSS_COUNT];

struct health {
	u64 sent;      /* by the kernel's own count, before anything could be lost */
	u64 taken;     /* by the reader out of the ring buffer */
	u64 processed; /* by the worker: checked and given to their signal */
	u64 coalesced; /* detail dropped, event counted in its bucket */
	u64 lost[LOSS_COUNT];
	u64 ring_fill_max; /* bytes in the ring buffer when the reader came to empty it, at most */
	u64 queue_bytes;   /* size of the queue to the worker */
	u64 queue_high_water; /* most of it that was ever in use */
	u64 latency_p99_ns;   /* from enqueued to processed; 0: nothing was processed */
};

u64 health_lost(const struct health *health);

/* sent - processed - coalesced - lost: 0 once a capture has been drained, or something lies. */
s64 health_imbalance(const struct health *health);

#endif
