/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks in the formats of other tools. To add one: a file src/export/<name>.c with its function,
 * and its row in exporters.def. Owns nothing. Called by the export command.
 */
#ifndef DWELL_EXPORT_EXPORT_H
#define DWELL_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "../model/profile.h"

enum export_weight {
	WEIGHT_DEFAULT, /* as the format's people expect it */
	WEIGHT_COUNT,	/* samples */
	WEIGHT_NS,	/* the time that they stand for */
};

struct export_options {
	enum export_weight weight;
	const char *title; /* what was recorded: the session's name */
};

struct exporter {
	const char *name, *about;
	bool is_of_one_kind; /* it cannot tell kinds of samples apart */
	int (*write)(const struct profile *profile, const struct export_options *options,
		     FILE *out);
};

extern const struct exporter exporters[];
extern const size_t exporter_count;

/* NULL: there is none of that name. */
const struct exporter *exporter_find(const char *name);

/* 0 or -ENOMEM each; what could not be written, ferror() tells. */
#define EXPORTER(name, ...)                                                                        \
	int export_##name(const struct profile *profile, const struct export_options *options,     \
			  FILE *out);
#include "exporters.def"
#undef EXPORTER

/* A sample's value in the unit of the file. */
static inline u64 export_value(const struct profile_sum *sum, bool by_count)
{
	return by_count ? sum->count : sum->weight_ns;
}

#endif
