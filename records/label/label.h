/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that were sent for numbers in signals' keys: kept while there is room, so that they are
 * written once; those that others are added to, for good. Owns its table.
 */
#ifndef DWELL_LABEL_H
#define DWELL_LABEL_H

#include "../../abi/records.h"
#include "../../src/base/hash.h"

#define LABEL_BOOK_MAX 16384

struct label_key {
	u64 id;
	u64 signal;
};

struct label_entry {
	struct label_key key;
	u32 is_told; /* the session has it */
	u32 is_part; /* others are named by it: it is not forgotten */
	char name[LABEL_BYTES + 32];
};

struct label_book {
	struct hash entries; /* struct label_entry */
	u64 turned_away;
};

#endif
