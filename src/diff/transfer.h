/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was read of one side, from the process that read it to the one that judges: so both sides
 * are read at the same time. Both are the same program. Who receives believes nothing, as the other
 * one has read a file from anywhere. Owns nothing. Called by src/cmd/diff_processes.c.
 */
#ifndef DWELL_DIFF_TRANSFER_H
#define DWELL_DIFF_TRANSFER_H

#include "diff.h"

/* All of a diff whose runs are read, and not judged. What could not be written, ferror() tells. */
void diff_send(const struct diff *diff, FILE *to);

/*
 * Adds what was sent as the runs of a side, which are called so: 0 or -errno. -EPROTO: it is not
 * what a sender sends, or not all of it.
 */
int diff_receive(struct diff *diff, FILE *from, int side, const char *const *names,
		 size_t name_count);

#endif
