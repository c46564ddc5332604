/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where in the code groups of processes ran and waited, as one function each. Owned by whoever
 * asks. Called by the rules that make findings.
 */
#ifndef DWELL_REPORT_HOT_FUNCTION_H
#define DWELL_REPORT_HOT_FUNCTION_H

#include "digest.h"

/* Each function returns 0 or -ENOMEM. */
struct hot_function {
	char function[DIGEST_TEXT]; /* "": not known */
	double share;		    /* percent of the samples' weight */
};

/*
 * The innermost function that at least half of the CPU samples passed through: of a group, or of
 * one of its threads (tid), in any state or in one (state; 0: any).
 */
int hot_function_on_cpu(const struct digest *digest, u32 group, u32 tid, u32 state,
			struct hot_function *ret_place);

/*
 * Where a system call is made, or with in_kernel what it does: the innermost function that at least
 * half of its CPU samples passed through. Of its callers that of the call's own wrapper, and what
 * the program called.
 */
int hot_function_in_call(const struct digest *digest, u32 group, const char *call, bool in_kernel,
			 struct hot_function *ret_place);

/*
 * The function of the program, or with in_kernel of the kernel, in which most of a state was. Many
 * waits are of one group and state: answers are kept in the hash, which hot_functions_init() makes
 * and the caller frees.
 */
int hot_function_in_state(const struct digest *digest, u32 group, u32 state, bool in_kernel,
			  struct hash *known, struct hot_function *ret_place);
void hot_functions_init(struct hash *known);

/* A function of the program itself, and not of the C library; or of the kernel, and not how it
 * waits. */
bool hot_function_is_telling(const struct profile *profile, u32 function, bool in_kernel);

#endif
