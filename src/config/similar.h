/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How near a mistyped name is to one that exists. Owns nothing. Called where names are checked.
 */
#ifndef DWELL_CONFIG_SIMILAR_H
#define DWELL_CONFIG_SIMILAR_H

#include <stddef.h>

#define SIMILAR_NEVER ((size_t)-1)

/*
 * How many letters must be changed, added or removed to make one of the other; 1 if one begins with
 * the other. SIMILAR_NEVER: so many that nobody meant it.
 */
size_t similar_distance(const char *typed, const char *name);

#endif
