/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Giving up every privilege for good. Called once, by the worker, as its first act.
 */
#ifndef DWELL_WORKER_PRIVILEGES_H
#define DWELL_WORKER_PRIVILEGES_H

/* Root becomes nobody; no capability stays, and none can be had again: 0 or -errno. */
int privileges_drop(void);

#endif
