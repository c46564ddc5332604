// SPDX-License-Identifier: Apache-2.0
#include "spelling.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/text.h"
#include "../capture/governor.h"

#define NUMBER_MAX     (~0ULL)
#define SPELLING_BYTES 32

struct unit {
	const char *name;
	u64 size;
};

/* The largest first; the last one is 1. */
static const struct unit times[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};
static const struct unit sizes[] = {{"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}, {"", 1}};

static void write_whole(const struct unit *units, u64 value, char ret_text[SPELLING_BYTES])
{
	while (value % units->size)
		units++;
	snprintf(ret_text, SPELLING_BYTES, "%llu%s", (unsigned long long)(value / units->size),
		 units->name);
}

/* False: it is no such value. */
static bool spell(enum option_value kind, const char *value, char ret_text[SPELLING_BYTES])
{
	double limit;
	u64 number;
	int err = 0;

	switch (kind) {
	case VALUE_TEXT:
		return false;
	case VALUE_NUMBER:
		err = text_parse_u64(value, 0, NUMBER_MAX, &number);
		if (!err)
			snprintf(ret_text, SPELLING_BYTES, "%llu", (unsigned long long)number);
		break;
	case VALUE_TIME:
	case VALUE_SECONDS:
		err = (kind == VALUE_TIME ? text_parse_duration
					  : text_parse_seconds)(value, 0, NUMBER_MAX, &number);
		if (!err)
			write_whole(times, number, ret_text);
		break;
	case VALUE_SIZE:
		err = text_parse_size(value, 0, NUMBER_MAX, &number);
		if (!err)
			write_whole(sizes, number, ret_text);
		break;
	case VALUE_PERCENT:
		err = governor_parse(value, &limit);
		if (!err)
			snprintf(ret_text, SPELLING_BYTES, "%.10g%%", 100 * limit);
		break;
	case VALUE_LETTER:
		err = !*value || value[1];
		if (!err)
			snprintf(ret_text, SPELLING_BYTES, "%c", toupper((unsigned char)*value));
		break;
	}
	return !err;
}

char *spelling_of(enum option_value kind, const char *value)
{
	char text[SPELLING_BYTES];

	return strdup(spell(kind, value, text) ? text : value);
}
