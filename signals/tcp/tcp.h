/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections that closed in the window that is open, until it is written; what all of them say.
 */
#ifndef DWELL_TCP_H
#define DWELL_TCP_H

#include "../../abi/records.h"

#define CONNECTIONS_MAX 8192 /* in one window */

struct connection_book {
	u64 count;
	u64 turned_away; /* for want of room; their numbers are in their series */
	struct rec_tcp rows[CONNECTIONS_MAX];
};

struct series_set;
struct remarks;

/* What the numbers say, in sentences. */
void tcp_judge(const struct series_set *set, struct remarks *remarks);

#endif
