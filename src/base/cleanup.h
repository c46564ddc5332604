/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locals that clean up after themselves, small helpers for arrays.
 * Owns nothing. Anyone may include it.
 */
#ifndef DWELL_BASE_CLEANUP_H
#define DWELL_BASE_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static inline void cleanup_freep(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclosep(FILE **file)
{
	if (*file)
		fclose(*file);
}

#define _cleanup_free_	 __attribute__((cleanup(cleanup_freep)))
#define _cleanup_close_	 __attribute__((cleanup(cleanup_closep)))
#define _cleanup_fclose_ __attribute__((cleanup(cleanup_fclosep)))

#endif
