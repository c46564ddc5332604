// SPDX-License-Identifier: Apache-2.0
/*
 * The buckets of a session's histograms, as text that anyone may have written; and what is made of
 * them: percentiles, modes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../src/model/hist.h"
#include "../src/report/histogram_modes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const struct hist *hist)
{
	struct modes modes;
	char said[512];
	u64 before = 0;

	for (int i = 0; i <= 10; i++) {
		u64 value = hist_percentile(hist, i / 10.0);

		if (value < before)
			abort();
		before = value;
	}
	modes_find(hist, &modes);
	if (modes.count > MODES_MAX)
		abort();
	modes_say(&modes, said, sizeof(said));
}

/* What was taken can be printed and is read the same. */
static void print_again(const struct hist *hist)
{
	char *text = malloc(HIST_BUCKETS * 32);
	struct hist *again = calloc(1, sizeof(*again));

	if (!text || !again)
		abort();
	hist_print(hist, text, HIST_BUCKETS * 32);
	/* A count that is the sum of two may be more than one may be. */
	if (!hist_parse(again, text) &&
	    (again->count != hist->count ||
	     memcmp(again->buckets, hist->buckets, sizeof(hist->buckets))))
		abort();
	free(again);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hist *hist = calloc(1, sizeof(*hist));
	char *text = malloc(size + 1);

	if (!hist || !text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	if (!hist_parse(hist, text))
		print_again(hist);
	use(hist); /* also one of which only the beginning was one */
	free(text);
	free(hist);
	return 0;
}
