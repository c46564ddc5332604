/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processes of a session are of the part that somebody asks for, by the options of
 * process_keys.h: all of them must fit. Owned by whoever reads the session. Called once, before
 * anything that a part limits is read.
 */
#ifndef DWELL_STORE_PROCESS_FILTER_H
#define DWELL_STORE_PROCESS_FILTER_H

#include <sqlite3.h>

#include "session_part.h"

/*
 * Sets part->chosen, if the part has such an option: 0 or -errno, told. -ENOENT: none fits; what
 * there is that is written alike is told with it. process_filter_free() takes it back.
 */
int process_filter_read(sqlite3 *db, struct session_part *part);
void process_filter_free(struct session_part *part);

/* In words, for people: "pid 12,34, service nginx.service"; "" if all processes are wanted. */
void process_filter_text(const struct session_part *part, char *text, size_t size);

#endif
