// SPDX-License-Identifier: Apache-2.0
/*
 * What the symbolizer tells the process that writes the session: a file may have taken it over.
 * Messages one after the other, each behind its size.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../src/symbolize/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(struct symbolize *symbolize, u32 generation)
{
	struct resolver *resolver = symbolize_resolver(symbolize);
	struct frame_name names[FRAME_NAMES_MAX];
	struct place place;
	char name[64];

	resolver->place(resolver, generation, 0x1010, &place);
	for (size_t i = 0, count = resolver->name(resolver, &place, names); i < count; i++)
		if ((names[i].name && strlen(names[i].name) >= FACT_TEXT_BYTES * 64) ||
		    (names[i].file && strlen(names[i].file) >= FACT_TEXT_BYTES * 64))
			abort();
	if (resolver->place_data(resolver, generation, 0x1010, &place))
		resolver->name_data(resolver, &place, name, sizeof(name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_Alignas(8) static char message[sizeof(union fact)];
	struct symbolize *symbolize;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
		return 0;
	if (symbolize_create(&symbolize) || symbolize_mirror(symbolize, pair[0]))
		abort();
	for (uint16_t length; size >= sizeof(length); data += length, size -= length) {
		memcpy(&length, data, sizeof(length));
		data += sizeof(length);
		size -= sizeof(length);
		if (length > size || length > sizeof(message))
			break;
		memcpy(message, data, length);
		mirror_take(symbolize, message, length);
		use(symbolize, 7);
	}
	symbolize_free(symbolize);
	close(pair[1]);
	return 0;
}
