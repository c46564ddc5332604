/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chain as one line. Owns nothing. Called by chain.c, and by the page.
 */
#ifndef DWELL_REPORT_CHAIN_TEXT_H
#define DWELL_REPORT_CHAIN_TEXT_H

#include "chain.h"

/* "worker-3 (13) waited 2.960 s: lock Store::mu ← flusher: 71 % fsync wal.log, ..." */
void chain_say(const struct digest *digest, struct chain *chain);

/* "flusher (104): 71 % fsync wal.log, 17 % run queue ← kv 61 %"; adds to a text of CHAIN_TEXT. */
void chain_links_text(const struct digest *digest, const struct chain *chain, char *text);

/* What a thread did or waited for, in few words: "on a CPU", "lock 0x7f…"; adds likewise. */
void chain_add_what(const struct digest *digest, u8 state, u16 call, u64 object, char *text);

#endif
