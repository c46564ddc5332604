// SPDX-License-Identifier: Apache-2.0
#include "option_kind.h"

#include <string.h>

#include "../base/cleanup.h"

static const struct {
	const char *name;
	u32 kinds;
} rows[] = {
	{"output", OPTION_BESIDE | OPTION_WRITES},
	{"rotate", OPTION_WRITES},
	{"keep", OPTION_WRITES},
	{"verbose", OPTION_BESIDE},
	{"quiet", OPTION_BESIDE},
	{"json", OPTION_BESIDE},
	{"label", OPTION_BESIDE | OPTION_ADDS_UP},
	{"note", OPTION_BESIDE},
	/* One file that leads to another, or to no measurement at all, is a riddle. */
	{"help", OPTION_BESIDE | OPTION_NOT_IN_FILE},
	{"dry-run", OPTION_BESIDE | OPTION_NOT_IN_FILE},
	{"config", OPTION_BESIDE | OPTION_NOT_IN_FILE},
	{"like", OPTION_BESIDE | OPTION_NOT_IN_FILE},
	{"pid", OPTION_ADDS_UP | OPTION_LISTS},
	{"tid", OPTION_ADDS_UP | OPTION_LISTS},
	{"signals", OPTION_ADDS_UP | OPTION_LISTS},
	{"comm", OPTION_ADDS_UP},
	{"exe", OPTION_ADDS_UP},
	{"uid", OPTION_ADDS_UP},
	{"cgroup", OPTION_ADDS_UP},
	{"container", OPTION_ADDS_UP},
};

u32 option_kinds(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].name, name))
			return rows[i].kinds;
	return 0;
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
