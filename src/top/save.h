/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last minute as a session of its own, and its page. Files are made with the rights of the
 * person behind sudo; sessions are read by a process without privileges. Owns nothing. Called by
 * top.c, which has not given up what this needs.
 */
#ifndef DWELL_TOP_SAVE_H
#define DWELL_TOP_SAVE_H

#include <stddef.h>

#include "../../abi/types.h"

/*
 * The files of the recording from first to last become one, in the current folder: 0 and its name,
 * or -errno, told.
 */
int save_session(const char *recording, u64 first, u64 last, char *ret_path, size_t size);

/*
 * The HTML report of a session, beside it: 0 and its name, or -EOPNOTSUPP if this build has no
 * page, or -EIO.
 */
int save_page(const char *session, char *ret_path, size_t size);

#endif
