/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls by name, from the headers that dwell was compiled with. Owns nothing.
 * A session names those that occur in it: a reader asks the session first, since it may come
 * from another kind of machine.
 */
#ifndef DWELL_MODEL_SYSCALL_H
#define DWELL_MODEL_SYSCALL_H

#include <stddef.h>

#include "../../abi/types.h"

#define SYSCALL_NAME_BYTES 32

/*
 * The name of a call as records have it (1 + number, CALL_COMPAT for a 32-bit one); "" for none,
 * "syscall 512" for one without a name, for which buf is used.
 */
const char *syscall_name_into(u32 call, char *buf, size_t size);

/* The same, in a buffer of the calling block. */
#define syscall_name(call)                                                                         \
	syscall_name_into(call, (char[SYSCALL_NAME_BYTES]){0}, SYSCALL_NAME_BYTES)

#endif
