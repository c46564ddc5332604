/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One to three sentences with numbers: what dominates, whose it is, and why.
 * Owns nothing. Called by the report's two forms.
 */
#ifndef DWELL_REPORT_VERDICT_H
#define DWELL_REPORT_VERDICT_H

#include "digest.h"

#define SENTENCES_MAX  3
#define SENTENCE_BYTES 1024

struct verdict {
	char sentences[SENTENCES_MAX][SENTENCE_BYTES];
	size_t count; /* at least 1 */
};

int verdict_find(const struct digest *digest, struct verdict *ret_verdict);

#endif
