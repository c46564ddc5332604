/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Giving up privileges for good: every one, called by the worker as its first act, or those that a
 * measurement does not need once it runs. Owns nothing.
 */
#ifndef DWELL_WORKER_PRIVILEGES_H
#define DWELL_WORKER_PRIVILEGES_H

#include "../../abi/types.h"
#include "../base/sandbox.h"

/* The capabilities that it takes (base/capabilities.h). */
u64 privileges_to_drop(void);

/* Root becomes nobody; no capability stays, and none can be had again: 0 or -errno. */
int privileges_drop(void);

/*
 * The process that measures, before its target runs: it keeps the capabilities that it still needs,
 * and can start no program, load no module and mount nothing. session is the file that it writes,
 * or NULL. 0 or -errno. A command that was forked before is not concerned.
 */
int privileges_limit(const char *session, struct sandbox_notes *notes);

#endif
