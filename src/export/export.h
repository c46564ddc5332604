/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session in the formats of other tools. To add one: a file src/export/<name>.c with its
 * function, and its row in exporters.def, which says what it needs. Owns nothing. Called by the
 * export command.
 */
#ifndef DWELL_EXPORT_EXPORT_H
#define DWELL_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "../model/profile.h"
#include "../store/timeline.h"

enum export_weight {
	WEIGHT_DEFAULT, /* as the format's people expect it */
	WEIGHT_COUNT,	/* samples */
	WEIGHT_NS,	/* the time that they stand for */
};

struct export_options {
	enum export_weight weight;
	const char *title; /* what was recorded: the session's name */
	bool is_gzip;	   /* OTLP: as it is sent, not as it is kept */
};

/* What a format needs, and what it is. */
enum export_flags {
	EXPORT_STACKS = 1 << 0,	  /* the samples and their stacks, without their windows */
	EXPORT_TIMELINE = 1 << 1, /* windows, threads, the ledger, series, slow events */
	EXPORT_ONE_KIND = 1 << 2, /* it cannot tell kinds of samples apart */
	EXPORT_BINARY = 1 << 3,	  /* nothing for a terminal */
	EXPORT_ZIP = 1 << 4,	  /* several sessions can be one file: with a manifest */
};

/* Of a session, what the format needs; the rest is NULL. */
struct export_source {
	const struct profile *profile;
	const struct timeline *timeline;
};

struct exporter {
	const char *name, *about;
	u32 flags;
	const char *post_path; /* of an OTLP receiver, that takes it; NULL: it is only for files */
	int (*write)(const struct export_source *source, const struct export_options *options,
		     FILE *out);
};

extern const struct exporter exporters[];
extern const size_t exporter_count;

/* NULL: there is none of that name. */
const struct exporter *exporter_find(const char *name);

/*
 * 0, -ENOMEM, or an error that is told already (-EIO). What could not be written, ferror() tells.
 */
#define EXPORTER(name, ...)                                                                        \
	int export_##name(const struct export_source *source,                                      \
			  const struct export_options *options, FILE *out);
#include "exporters.def"
#undef EXPORTER

/* A sample's value in the unit of the file. */
static inline u64 export_value(const struct profile_sum *sum, bool by_count)
{
	return by_count ? sum->count : sum->weight_ns;
}

#endif
