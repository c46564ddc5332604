/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes that wait for a file which has their functions: what a signal says of its own, so that
 * src/engine/deferred_probes.c attaches them, counts their calls, and holds their cost below a
 * limit. Data, owns nothing. Written by signals.
 */
#ifndef DWELL_MODEL_DEFERRED_H
#define DWELL_MODEL_DEFERRED_H

#include <stdbool.h>
#include <stddef.h>

#include "../../abi/types.h"

#define DEFERRED_FUNCTIONS_MAX 16
#define DEFERRED_NO_PROBE      (~0ULL)

struct deferred_kind {
	const char *functions;	   /* for people: "malloc and similar functions" */
	const char *calls;	   /* "allocation calls" */
	const char *main_function; /* the one whose price is told */
	u64 main_cookie;

	/*
	 * Libraries that have them, by the beginnings of the names that their makers gave them, up
	 * to a NULL. Executables are looked through as well: something may be linked in.
	 */
	const char *const *libraries;

	/*
	 * The cookie of a probe at a function of this name, by the probe's own cookie, which is
	 * below DEFERRED_FUNCTIONS_MAX; DEFERRED_NO_PROBE: here it gets none. library is a place in
	 * libraries[]; -1: it is an executable.
	 */
	u64 (*cookie)(int library, const char *function, u64 cookie);

	/* A Go program without this function gets none of the probes that are for Go programs. */
	const char *go_function;

	/* A map with one value for each CPU, and what that says of how often each was called. */
	const char *calls_map;
	size_t calls_size;
	void (*add_calls)(const void *of_cpu, u64 calls[DEFERRED_FUNCTIONS_MAX]);

	/* A map of what a process has, to be forgotten when it is gone: whose a key is. NULL: none.
	 */
	const char *lives_map;
	u32 (*process_of)(const void *key);

	/*
	 * A per-CPU array with a number in which programs count that the probes would be of use:
	 * until then none is attached. NULL: they are attached as files come.
	 */
	const char *asked_map;

	bool is_part;	/* the signal has a meaning without them: it goes on when they cost too much
			 */
	u64 program_ns; /* what its program takes at a call that is not sampled */
	double limit;	/* most of one CPU's time, where --max-overhead does not say */
};

#endif
