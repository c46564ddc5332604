/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The findings that come first, as one to three sentences. Owns nothing. Called by the report's two
 * forms; it computes nothing.
 */
#ifndef DWELL_REPORT_VERDICT_H
#define DWELL_REPORT_VERDICT_H

#include "finding.h"

#define SENTENCES_MAX 3

struct verdict {
	char sentences[SENTENCES_MAX][2 * SENTENCE_BYTES];
	const struct finding *of[SENTENCES_MAX]; /* the first may have two */
	size_t count;				 /* at least 1 */
};

void verdict_find(const struct digest *digest, struct verdict *ret_verdict);

/* Is the session, or what is left of it, about one process or command, and not the host? */
bool digest_is_of_one(const struct digest *digest);

/* One of those that the first sentence is made of. */
bool finding_is_opening(const struct finding *finding);

#endif
