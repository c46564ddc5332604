/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rights of whoever started dwell, where the binary has file capabilities (setcap): what is
 * named on the command line is opened with the caller's own rights, or every user could read all
 * files through dwell. For root, and behind sudo, nothing changes here (see person.h for files
 * that are written). Owns what it put aside. Called by whoever opens a file by a name from outside.
 */
#ifndef DWELL_BASE_CALLER_H
#define DWELL_BASE_CALLER_H

struct caller {
	void *before; /* capabilities to be restored; NULL: none were put aside */
};

/* From here until caller_end() this thread has no capability over files: 0 or -errno. */
int caller_begin(struct caller *caller);
void caller_end(struct caller *caller);

/* open() with the caller's rights: a descriptor or -errno. */
int caller_open(const char *path, int flags);

#endif
