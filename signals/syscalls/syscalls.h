/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The measures of the signal, as both sides number them.
 */
#ifndef DWELL_SYSCALLS_H
#define DWELL_SYSCALLS_H

enum syscalls_kind { SYSCALLS_OK, SYSCALLS_ERROR, SYSCALLS_NOT_FOUND, SYSCALLS_CALLER };

#endif
