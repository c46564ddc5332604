/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session says of how, where and with which builds it was measured: its meta, its hooks, and
 * the build ids of files with code. Filled in the process without privileges that reads the
 * session, in memory that it shares with who asked; so whoever reads it believes nothing of it.
 * Owns nothing. Called by commands (--like).
 */
#ifndef DWELL_CONFIG_SESSION_FACTS_H
#define DWELL_CONFIG_SESSION_FACTS_H

#include <sqlite3.h>
#include <stdbool.h>

#include "../../abi/types.h"

#define SESSION_FACTS_BYTES (4u << 20)

enum fact_kind { FACT_META = 'm', FACT_HOOK = 'h', FACT_BUILD = 'b' };

/* Each is a byte for its kind, its key and its value, both ended by NUL. */
struct session_facts {
	u32 size;
	u32 cut; /* facts that did not fit */
	char bytes[SESSION_FACTS_BYTES];
};

struct fact {
	char kind;
	const char *key, *value;
};

/* Shared memory of zeroes; NULL: none. */
struct session_facts *session_facts_make(void);
void session_facts_free(struct session_facts *facts); /* NULL is allowed */

int session_facts_read(sqlite3 *db, struct session_facts *facts); /* 0 or -errno, told */

/* From *at, which begins with 0, the next one: false: there is none, or what is there is none. */
bool session_facts_next(const struct session_facts *facts, size_t *at, struct fact *ret_fact);

/* A fact of meta; "" if there is none. */
const char *session_facts_meta(const struct session_facts *facts, const char *key);

#endif
