/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has most of something, in bounded room: where there are more processes than places, the one
 * with least makes room and its count is inherited, so that whoever has more than 1/TALLY_MAX of
 * all is always there. Owns its places. Filled from rows on their way, asked by the governor's
 * hands.
 */
#ifndef DWELL_CAPTURE_TALLY_H
#define DWELL_CAPTURE_TALLY_H

#include <stddef.h>

#include "../../abi/types.h"

#define TALLY_MAX 256

struct tally_entry {
	u64 count;
	u32 tgid;
};

struct tally {
	struct tally_entry entries[TALLY_MAX];
	size_t used;
	u64 total;
};

void tally_add(struct tally *tally, u32 tgid, u64 count);

/* Valid until the next change; NULL: there is none. */
const struct tally_entry *tally_most(const struct tally *tally);
void tally_clear(struct tally *tally);

#endif
