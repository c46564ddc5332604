/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limit of open files (RLIMIT_NOFILE). A kernel that has no descriptor left makes libbpf take
 * features for absent, and then loads fail for reasons that are not the true one: so whoever
 * needs many descriptors asks for them first. Owns the limit that this process was started with.
 */
#ifndef DWELL_BASE_DESCRIPTORS_H
#define DWELL_BASE_DESCRIPTORS_H

#include <stddef.h>

#include "../../abi/types.h"

/* Raises the soft limit to the hard one; for main(). */
void descriptors_raise(void);

/* Undoes it: in a child that becomes another program, which may rely on the limit (select()). */
void descriptors_restore(void);

u64 descriptors_limit(void); /* in force */

/* Can this process open so many more files now? 0, -EMFILE or -ENFILE. */
int descriptors_need(size_t count);

/* What to do about a helper process or a file that could not be had: by a positive errno. */
const char *descriptors_advice(int err);

#endif
