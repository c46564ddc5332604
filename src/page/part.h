/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One part of the page's data (docs/page-data.md): JSON, deflated, in base64, kept in memory until
 * all parts are there. Owns its text. Called by the writers of parts.
 *
 * Numbers are most of the data, millions of them: they are written by a writer of our own, straight
 * into the compressor. Jansson would first make a tree of them, of 40 bytes and a call of malloc()
 * each. What is small and has many shapes (the head) is Jansson's: part_json().
 */
#ifndef DWELL_PAGE_PART_H
#define DWELL_PAGE_PART_H

#include <jansson.h>
#include <stdbool.h>
#include <zlib.h>

#include "../../abi/types.h"
#include "../base/memory_stream.h"

#define PART_BUFFER 65536

struct part {
	struct memory_stream base64; /* its text is complete after part_end() */
	bool is_omitted;	     /* by its writer: the page has no such part */
	/* while it is written */
	z_stream zip;
	bool is_open;
	int err;
	size_t used;
	char buffer[PART_BUFFER];
	u8 rest[3]; /* bytes that do not yet make four characters */
	size_t rest_count;
};

/* 0 or -errno; after an error the rest does nothing, and part_end() returns it. */
int part_begin(struct part *part);
int part_end(struct part *part);
void part_free(struct part *part);

void part_text(struct part *part, const char *text); /* as it is: JSON's own characters */
void part_number(struct part *part, s64 number);
void part_string(struct part *part, const char *text); /* valid UTF-8, quoted and escaped */
void part_json(struct part *part, json_t *value);      /* takes the value; NULL: no memory */

#endif
