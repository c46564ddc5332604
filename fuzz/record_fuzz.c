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

static void handle(const struct signal *signal, const struct rec_hdr *hdr)
{
	struct resolver resolver;
	struct stack_ids stack_ids;
	const struct services services = {&resolver, &stack_ids};
	void *state = calloc(1, signal->state_size);

	resolver_none(&resolver);
	stack_ids_init(&stack_ids, STACK_IDS_MAX);
	if (signal->open)
		signal->open(state, &services);
	signal->on_record(state, hdr);
	if (signal->release)
		signal->release(state);
	stack_ids_free(&stack_ids);
	free(state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct rec_hdr *hdr;
	void *record;

	if (size > RECORD_SIZE_MAX)
		return 0;
	record = malloc(size); /* exactly as large as it is, so that ASan sees one byte too many */
	memcpy(record, data, size);
	if (record_check(record, size, &hdr) == RECORD_OK)
		handle(signal_rows[hdr->type].signal, hdr);
	free(record);
	return 0;
}
