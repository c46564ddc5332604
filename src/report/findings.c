// SPDX-License-Identifier: Apache-2.0
/* All rules are asked, and what they found is put in order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/utf8.h"
#include "finding.h"

static int by_severity(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;

	if (x->severity != y->severity)
		return x->severity > y->severity ? -1 : 1;
	if (x->weight_ns != y->weight_ns)
		return x->weight_ns > y->weight_ns ? -1 : 1;
	return strcmp(x->id, y->id) ? strcmp(x->id, y->id) : strcmp(x->sentence, y->sentence);
}

/* A name that was cut within a character must not reach the JSON. */
static void repair_utf8(struct finding *finding)
{
	char copy[SENTENCE_BYTES];

	memcpy(copy, finding->sentence, sizeof(copy));
	utf8_copy(finding->sentence, SENTENCE_BYTES, copy, strnlen(copy, sizeof(copy)));
	for (size_t i = 0; i < finding->evidence_count; i++) {
		char *what = finding->evidence[i].what;

		memcpy(copy, what, DIGEST_TEXT);
		utf8_copy(what, DIGEST_TEXT, copy, strnlen(copy, DIGEST_TEXT));
	}
}

int findings_find(const struct digest *digest, struct findings **ret_findings)
{
	struct findings *findings = calloc(1, sizeof(*findings));
	int err = 0;

	*ret_findings = findings;
	if (findings)
		findings->of = calloc(FINDINGS_MAX, sizeof(*findings->of));
	if (!findings || !findings->of)
		return -ENOMEM;
	err = chains_compose(digest, &findings->chains, &findings->chain_count);
	find_subject(digest, findings);
	find_host(digest, findings);
	find_trust(digest, findings);
	find_queue(digest, findings);
	find_calls(digest, findings);
	find_loops(digest, findings);
	find_network(digest, findings);
	if (!err)
		err = find_waits(digest, findings);
	find_chains(digest, findings);
	if (!err)
		err = findings->err;
	for (size_t i = 0; i < findings->count; i++)
		repair_utf8(&findings->of[i]);
	qsort(findings->of, findings->count, sizeof(*findings->of), by_severity);
	return err;
}

void findings_free(struct findings *findings)
{
	if (!findings)
		return;
	free(findings->of);
	free(findings->chains);
	free(findings);
}
