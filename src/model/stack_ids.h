/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which stack a key of the kernel's stands for: told by the signal that gets stacks, asked by those
 * whose records name one. Owns its memory. In the worker, which lends it to signals.
 *
 * A key is kept as long as it is in use: of those that were told or asked for, the last max at
 * least are there. So a session of any length has room, and only what was long forgotten is not
 * found.
 */
#ifndef DWELL_MODEL_STACK_IDS_H
#define DWELL_MODEL_STACK_IDS_H

#include <stdbool.h>

#include "../base/recent.h"

/*
 * What the kernel side does not send again must be here. It sends what is in use once in
 * TOLD_WINDOWS (signal.h), so these are more than are new meanwhile. Both halves full
 * are 1.5 MB; they grow as they are used.
 */
#define STACK_IDS_MAX (32u << 10)

struct stack_ids {
	/*
	 * Set by the signal that gets stacks: something in the session's file refers to this stack.
	 * False: it is forgotten. NULL: nobody wants to know.
	 */
	bool (*refer)(void *context, u64 stack);
	void *refer_context;
	struct recent entries;
};

void stack_ids_init(struct stack_ids *ids, size_t max);
void stack_ids_free(struct stack_ids *ids);

/* False: there is no memory. */
bool stack_ids_put(struct stack_ids *ids, u64 key, u64 stack);

/* Forgets what was neither told nor asked for since the last time. */
void stack_ids_age(struct stack_ids *ids);

/* For a row of the session's file, which then has the stack. False: it was not sent, or is
 * forgotten. */
bool stack_ids_find(struct stack_ids *ids, u64 key, u64 *ret_stack);

#endif
