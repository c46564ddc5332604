// SPDX-License-Identifier: Apache-2.0
/*
 * Header blocks of HTTP/2, one after the other on a connection: each begins with a byte that says
 * how long it is, in its lowest six bits, and whether it is cut.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../signals/requests/hpack_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends within its size, and nothing in it has to be escaped. */
static void check_text(const char *text, size_t size)
{
	if (!memchr(text, '\0', size))
		abort();
	for (; *text; text++)
		if (*text < ' ' || *text > '~' || strchr("\"'`\\", *text))
			abort();
}

static void read_block(const struct hpack_table *table, u32 block, struct bytes bytes, bool is_cut)
{
	struct request_text request;
	struct hpack_fields fields;
	struct answer_text answer;

	memset(&fields, 0xff, sizeof(fields));
	hpack_read(table, block, bytes, is_cut, &fields);
	hpack_name_request(&fields, &request);
	check_text(request.endpoint, sizeof(request.endpoint));
	hpack_name_answer(&fields, &fields, &fields, &answer);
	check_text(answer.status, sizeof(answer.status));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hpack_table table;
	struct bytes rest = {data, size};
	u32 block = 0;

	hpack_open(&table);
	while (rest.length) {
		struct bytes bytes = bytes_first(bytes_from(rest, 1), rest.at[0] & 0x3f);
		bool is_cut = rest.at[0] & 0x80;

		rest = bytes_from(rest, 1 + bytes.length);
		hpack_add(&table, ++block, bytes);
		if (table.size > table.limit || table.inserted - table.evicted > HPACK_ENTRIES / 2)
			abort();
		read_block(&table, block, bytes, is_cut);
		read_block(&table, block - 1, bytes, is_cut);
		read_block(NULL, block, bytes, is_cut);
	}
	return 0;
}
