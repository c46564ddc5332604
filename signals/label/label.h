/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that were told for numbers in signals' keys, until the window ends.
 */
#ifndef DWELL_LABEL_H
#define DWELL_LABEL_H

#include "../../abi/records.h"

#define LABELS_KEPT_MAX 2048

struct label_entry {
	u64 id;
	u32 signal;
	u32 is_told; /* the session has it */
	char name[LABEL_BYTES + 24];
};

struct label_book {
	struct label_entry entries[LABELS_KEPT_MAX];
	u64 count;
	u64 turned_away;
};

#endif
