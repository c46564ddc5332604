/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How signals use their share of places for series, as last told.
 */
#ifndef DWELL_SHARE_H
#define DWELL_SHARE_H

#include "../../abi/records.h"

struct share_book {
	u64 has_news;
	u64 no_base; /* a bit for each signal whose first row is told already */
	u64 is_first_file;
	u64 lost, unpaired, slow_unspoken; /* of all signals */
	struct series_share of[SIGNAL_LIMIT];
	struct series_share before[SIGNAL_LIMIT]; /* what earlier files have */
};

#endif
