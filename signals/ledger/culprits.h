/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who made a thread wait, as the session gets it: who ran instead, what those did that it waited
 * for, and long turns of its own event loop. Owns nothing. Called by the page.
 */
#ifndef DWELL_LEDGER_CULPRITS_H
#define DWELL_LEDGER_CULPRITS_H

#include "../../src/model/signal.h"
#include "ledger.h"

/* What a thread's row has more than was written before. */
void culprits_write(const struct rec_ledger *row, struct ledger_written *written, u64 window,
		    struct sink *sink);

#endif
