/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The measures of the signal, as both sides number them.
 */
#ifndef DWELL_SYSCALLS_H
#define DWELL_SYSCALLS_H

enum syscalls_kind { SYSCALLS_OK, SYSCALLS_ERROR, SYSCALLS_NOT_FOUND, SYSCALLS_CALLER };

struct series_set;
struct remarks;

/* What the numbers say, in sentences. */
void syscalls_judge(const struct series_set *set, struct remarks *remarks);

#endif
