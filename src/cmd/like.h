/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --like FILE: the options of a session, and what differs between it and the one that was recorded
 * with them. Sessions are read by the process without privileges. Owns nothing. Called by given.c.
 */
#ifndef DWELL_CMD_LIKE_H
#define DWELL_CMD_LIKE_H

#include <getopt.h>

#include "../config/config.h"
#include "../config/session_facts.h"
#include "../engine/engine.h"

/*
 * 0 or -errno, told. command: the one that is measured now; NULL: none. *ret_facts is the caller's
 * to free, also after an error.
 */
int like_read(const char *path, const struct option *longs, char **command,
	      struct session_facts **ret_facts, struct config *ret_options);

void like_compare(const char *path, const struct session_facts *there,
		  const struct engine_result *result);

#endif
