/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for a session's frames that have none, out of debug files that debuginfod's servers have;
 * only when a person asks for it. Owns nothing that lasts, but for the library's cache. Called
 * while a session is read, in the process without privileges: what servers send is foreign.
 */
#ifndef DWELL_SYMBOLIZE_FETCHED_NAMES_H
#define DWELL_SYMBOLIZE_FETCHED_NAMES_H

#include "../model/profile.h"

struct fetcher;

struct fetch_request {
	u64 limit_ms;		 /* for all files together; 0: nothing is asked for */
	bool is_cache_private;	 /* who asked was root: nobody has no home, so nothing is kept */
	struct fetcher *fetcher; /* asks the servers; the caller's */
};

/*
 * Of what is in the stacks of samples, what is in most of them first; before profile_finish(). The
 * request is a struct fetch_request: 0, also if no server has any, or -errno, told.
 */
int fetched_names(struct profile *profile, const void *request);

#endif
