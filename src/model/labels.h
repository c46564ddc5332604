/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that a signal has for numbers of its own, in a session: a device's, a probe's. One table
 * for all signals, which the store makes; owns nothing. Signals write it, reports read it.
 */
#ifndef DWELL_MODEL_LABELS_H
#define DWELL_MODEL_LABELS_H

#include "sink.h"

extern const struct table labels_table;

/* A later name of the same number replaces the one before. */
void labels_add(struct sink *sink, const char *signal, u64 id, const char *name);

#endif
