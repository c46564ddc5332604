/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The facts of a session's meta that say how it was measured: the options as they were given, and
 * what they mean. Owns nothing. Called by metadata.c.
 */
#ifndef DWELL_ENGINE_OPTION_FACTS_H
#define DWELL_ENGINE_OPTION_FACTS_H

#include "engine.h"

/* add() may be given a value of NULL: there is nothing to add. */
void option_facts_add(const struct engine_options *options,
		      void (*add)(void *context, const char *key, const char *value),
		      void *context);

#endif
