/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the detail of a series is called, for signals that declare names for it: a table of the
 * session, for SQL, which cannot see the declarations. Owns nothing. Called by the writer, and for
 * the views of `dwell query`.
 */
#ifndef DWELL_STORE_DETAILS_H
#define DWELL_STORE_DETAILS_H

#include "../model/sink.h"

extern const struct table details_table;

/* Gives each row of it to the sink. */
void details_add(struct sink *sink);

#endif
