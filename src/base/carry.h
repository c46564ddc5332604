/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differences of growing counts, such that their sum is exact and none is negative.
 *
 * A count that was reported before may turn out smaller: a wait was booked on paper until now, and
 * a wake-up that came late shortens it. What was told is not taken back; the part that grew instead
 * is told less, until the two agree again. Owns nothing. Called by signals when a window ends.
 */
#ifndef DWELL_BASE_CARRY_H
#define DWELL_BASE_CARRY_H

#include <stddef.h>

#include "../../abi/types.h"

/*
 * now[] is what is known, told[] what has been told so far; told[] is raised by ret_parts[]. The
 * sum of the parts is sum(now) - sum(told), or 0 if that is negative.
 */
void carry_parts(const u64 *now, u64 *told, u64 *ret_parts, size_t count);

/* The same for one count that belongs to a sum: at most limit. */
u64 carry_one(u64 now, u64 *told, u64 limit);

/* For events, which have no exact sum; the count may wrap. */
u32 carry_count(u32 now, u32 *told);

#endif
