/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns of names: * stands for any text, ? for any byte. Owns nothing.
 */
#ifndef DWELL_BASE_PATTERN_H
#define DWELL_BASE_PATTERN_H

#include <stdbool.h>

/* Does the pattern match the whole text? */
bool pattern_matches(const char *pattern, const char *text);

#endif
