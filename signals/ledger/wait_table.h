/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each syscall waits for when it blocks, by number; 32-bit ones apart. For the ledger's
 * probes, which get them in a map. Places that are not used are zero.
 */
#ifndef DWELL_LEDGER_WAIT_TABLE_H
#define DWELL_LEDGER_WAIT_TABLE_H

#include "../../src/model/signal.h"
#include "waits.h"

#define WAIT_TABLE_MAX 96

extern const struct map_entry ledger_waits[WAIT_TABLE_MAX];
extern const struct map_entry ledger_waits_compat[WAIT_TABLE_MAX];

#endif
