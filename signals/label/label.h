/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that came in this window, until they are written.
 */
#ifndef DWELL_LABEL_H
#define DWELL_LABEL_H

#include "../../abi/records.h"

#define LABELS_BOOK_MAX 4096

struct label_list {
	u64 count;
	u64 turned_away; /* records for which no place was free */
	struct rec_label rows[LABELS_BOOK_MAX];
};

#endif
