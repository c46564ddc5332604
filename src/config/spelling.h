/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One text for each value of an option, however it was typed: 10, 10s and 10000ms are one duration.
 * Owns nothing. Called by effective.c, for the run id and for what config prints.
 */
#ifndef DWELL_CONFIG_SPELLING_H
#define DWELL_CONFIG_SPELLING_H

#include "option_kind.h"

/*
 * A time has the largest unit of s, ms, us and ns of which it is a whole number, a size likewise of
 * G, M, K and none. What is not such a value is as it was typed. The caller frees it; NULL: no
 * memory.
 */
char *spelling_of(enum option_value kind, const char *value);

#endif
