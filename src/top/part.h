/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a bar: the ledger's states in the few groups that a line of a terminal can tell
 * apart, each with a letter, so that it reads without colour. Owns nothing. Called by all of top.
 */
#ifndef DWELL_TOP_PART_H
#define DWELL_TOP_PART_H

#include <stdbool.h>

#include "../../abi/records.h"

enum part {
	PART_CPU,
	PART_RUNQ,
	PART_LOCK,
	PART_DISK,
	PART_NET,
	PART_MEMORY,
	PART_UNATTRIBUTED,
	PART_WAIT, /* for another thread or process, or for what is not known: often for work */
	PART_SLEEP,
	PART_IDLE,
	PART_COUNT
};

struct part_kind {
	const char *name;
	char glyph;
	bool is_busy;	   /* at work, or kept from it */
	short color;	   /* of 256, as its background */
	short basic_color; /* of 8 */
};

extern const struct part_kind part_kinds[PART_COUNT];

/* A state that this version does not know is unattributed. */
enum part part_of_state(unsigned int state);

/* Of the states above, those with which a thread is kept from its work by something. */
static inline bool part_is_blocked(enum part part)
{
	return part == PART_LOCK || part == PART_DISK || part == PART_NET || part == PART_MEMORY;
}

#endif
