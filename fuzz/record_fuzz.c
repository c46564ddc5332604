// SPDX-License-Identifier: Apache-2.0
/*
 * The record decoder, and the handlers behind it, on any bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../src/model/record.h"
#include "../src/model/signal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct rec_hdr *hdr;
	void *record;

	if (size > RECORD_SIZE_MAX)
		return 0;
	record = malloc(size); /* exactly as large as it is, so that ASan sees one byte too many */
	memcpy(record, data, size);
	if (record_check(record, size, &hdr) == RECORD_OK) {
		void *state = calloc(1, signal_rows[hdr->type].signal->state_size);

		signal_rows[hdr->type].signal->on_record(state, hdr);
		free(state);
	}
	free(record);
	return 0;
}
