// SPDX-License-Identifier: Apache-2.0
#include "option_kind.h"

#include <string.h>

#include "../base/cleanup.h"

static const struct option_row {
	const char *name;
	u32 kinds;
	enum option_value value;
} rows[] = {
	{"output", OPTION_BESIDE | OPTION_WRITES, VALUE_TEXT},
	{"rotate", OPTION_WRITES, VALUE_SECONDS},
	{"keep", OPTION_WRITES, VALUE_NUMBER},
	{"verbose", OPTION_BESIDE, VALUE_TEXT},
	{"quiet", OPTION_BESIDE, VALUE_TEXT},
	{"json", OPTION_BESIDE, VALUE_TEXT},
	{"label", OPTION_BESIDE | OPTION_ADDS_UP, VALUE_TEXT},
	{"note", OPTION_BESIDE, VALUE_TEXT},
	/* One file that leads to another, or to no measurement at all, is a riddle. */
	{"help", OPTION_BESIDE | OPTION_NOT_IN_FILE, VALUE_TEXT},
	{"dry-run", OPTION_BESIDE | OPTION_NOT_IN_FILE, VALUE_TEXT},
	{"config", OPTION_BESIDE | OPTION_NOT_IN_FILE, VALUE_TEXT},
	{"like", OPTION_BESIDE | OPTION_NOT_IN_FILE, VALUE_TEXT},
	{"pid", OPTION_ADDS_UP | OPTION_LISTS, VALUE_NUMBER},
	{"tid", OPTION_ADDS_UP | OPTION_LISTS, VALUE_NUMBER},
	{"signals", OPTION_ADDS_UP | OPTION_LISTS, VALUE_TEXT},
	{"comm", OPTION_ADDS_UP, VALUE_TEXT},
	{"exe", OPTION_ADDS_UP, VALUE_TEXT},
	{"uid", OPTION_ADDS_UP, VALUE_NUMBER},
	{"cgroup", OPTION_ADDS_UP, VALUE_TEXT},
	{"container", OPTION_ADDS_UP, VALUE_TEXT},
	{"duration", 0, VALUE_SECONDS},
	{"warmup", 0, VALUE_SECONDS},
	{"min-block", 0, VALUE_TIME},
	{"slow", 0, VALUE_TIME},
	{"pair-limit", 0, VALUE_TIME},
	{"unwind-rows", 0, VALUE_SIZE},
	{"alloc-every", 0, VALUE_SIZE},
	{"kernel", 0, VALUE_SIZE},
	{"freq", 0, VALUE_NUMBER},
	{"seed", 0, VALUE_NUMBER},
	{"limit", 0, VALUE_NUMBER},
	{"max-overhead", 0, VALUE_PERCENT},
	{"tier", 0, VALUE_LETTER},
	/* Probes of trace, which have no long name. */
	{"u", OPTION_ADDS_UP, VALUE_TEXT},
	{"k", OPTION_ADDS_UP, VALUE_TEXT},
	{"t", OPTION_ADDS_UP, VALUE_TEXT},
	{"U", OPTION_ADDS_UP, VALUE_TEXT},
};

static const struct option_row *find_row(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

u32 option_kinds(const char *name)
{
	const struct option_row *row = find_row(name);

	return row ? row->kinds : 0;
}

enum option_value option_value(const char *name)
{
	const struct option_row *row = find_row(name);

	return row ? row->value : VALUE_TEXT;
}

const struct option *option_by_name(const struct option *longs, const char *name)
{
	for (; longs->name; longs++)
		if (!strcmp(longs->name, name))
			return longs;
	return NULL;
}

const struct option *option_by_value(const struct option *longs, int value)
{
	for (; longs->name; longs++)
		if (longs->val == value)
			return longs;
	return NULL;
}
