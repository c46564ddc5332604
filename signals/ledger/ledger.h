/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The book: the last known ledger of every thread, as the worker keeps it.
 */
#ifndef DWELL_LEDGER_H
#define DWELL_LEDGER_H

#include "../../abi/records.h"

#define LEDGER_ROWS_MAX	 16384
#define LEDGER_INDEX_MAX 32768 /* a power of two, and twice the rows */

struct ledger_book {
	u64 count;		 /* of rows */
	u64 folded;		 /* threads beyond LEDGER_ROWS_MAX; their time is in other */
	struct rec_ledger other; /* sums only */
	struct rec_ledger rows[LEDGER_ROWS_MAX];
	u32 index[LEDGER_INDEX_MAX]; /* hash of the identity to row + 1 */
};

#endif
