/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system calls of several threads as one: each with `thread` 0. Owned by whoever asks.
 * Called by the text, the verdict and the JSON.
 */
#ifndef DWELL_REPORT_CALLS_H
#define DWELL_REPORT_CALLS_H

#include "digest.h"

/* Of the threads that are shown, longest first. */
int calls_find(const struct digest *digest, struct hash *ret_calls);
int calls_of_process(const struct digest *digest, const struct process *process,
		     struct hash *ret_calls);

/* Of several processes: one after the other, in no order. */
void calls_init(struct hash *calls);
int calls_add_process(const struct digest *digest, const struct process *process,
		      struct hash *calls);

#endif
