// SPDX-License-Identifier: Apache-2.0
#include "similar.h"

#include <string.h>

#define LENGTH_MAX   32
#define DISTANCE_MAX 3

static size_t least_of(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;

	return least < c ? least : c;
}

/* Levenshtein's, a row of the table at a time. */
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t row[LENGTH_MAX + 1];

	for (size_t j = 0; j <= b_length; j++)
		row[j] = j;
	for (size_t i = 0; i < a_length; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < b_length; j++) {
			size_t above = row[j + 1];

			row[j + 1] = least_of(above + 1, row[j] + 1, diagonal + (a[i] != b[j]));
			diagonal = above;
		}
	}
	return row[b_length];
}

size_t similar_distance(const char *typed, const char *name)
{
	size_t typed_length = strlen(typed), length = strlen(name), distance;

	if (!typed_length || typed_length > LENGTH_MAX || length > LENGTH_MAX)
		return SIMILAR_NEVER;
	if (typed_length >= 3 &&
	    (!strncmp(typed, name, typed_length) || (length >= 3 && !strncmp(typed, name, length))))
		return 1;
	distance = edit_distance(typed, typed_length, name, length);
	return distance <= DISTANCE_MAX && 2 * distance <= length ? distance : SIMILAR_NEVER;
}
