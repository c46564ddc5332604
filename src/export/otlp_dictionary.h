/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dictionary of an OTLP profile: texts, functions, locations, stacks and attributes, each once,
 * and only those that are used; place 0 of each table is its zero value, as the format wants it.
 * The whole is in memory until it is written: it is as large as the profile that it is made from.
 * Owns its tables. Called by otlp_profiles.c.
 */
#ifndef DWELL_EXPORT_OTLP_DICTIONARY_H
#define DWELL_EXPORT_OTLP_DICTIONARY_H

#include "../model/profile.h"
#include "otlp.h"

struct otlp_table {
	void **items;
	size_t count;
};

struct otlp_dictionary {
	const struct profile *profile;
	struct otlp_pool pool;
	struct strings strings;
	struct strings values; /* texts of attributes, to know them again: not of the format */
	struct otlp_table mappings, locations, functions, attributes, stacks;
	struct hash known_attributes, known_stacks;
	struct hash known_items;       /* of all tables, by what they say */
	u32 *modules, *frames, *marks; /* by index of the profile: place + 1; 0: not used yet */
	u32 *function_places;
	int err;
};

int otlp_dictionary_init(struct otlp_dictionary *dictionary, const struct profile *profile);
void otlp_dictionary_free(struct otlp_dictionary *dictionary);

/* Places; 0 after a failure, which err has. */
s32 otlp_string(struct otlp_dictionary *dictionary, const char *text);
s32 otlp_attribute_text(struct otlp_dictionary *dictionary, const char *key, const char *text);
s32 otlp_attribute_number(struct otlp_dictionary *dictionary, const char *key, s64 number);
s32 otlp_stack(struct otlp_dictionary *dictionary, u64 stack, u32 stop);

/* The last part of a body. */
int otlp_dictionary_put(struct otlp_dictionary *dictionary, struct wire *wire);

#endif
