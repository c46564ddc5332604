/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What both sides of the signal know: what is measured, and which calls are which operation.
 */
#ifndef DWELL_SIGNAL_FILES_H
#define DWELL_SIGNAL_FILES_H

enum files_kind { FILES_LATENCY };

enum files_sum { FILES_ASKED, FILES_RETURNED }; /* beside it, of those that did not fail */

/* 0: none of ours. The name of an operation is in files.c, at its number less one. */
enum files_op { FILES_NONE, FILES_READ, FILES_WRITE, FILES_OPEN, FILES_SYNC, FILES_LIST };

#define FILES_VECTOR 0x100 /* its bytes are in a list of places */
#define FILES_CALLS  512   /* numbers of system calls that are looked at */

#endif
