// SPDX-License-Identifier: Apache-2.0
#include "protocol.h"

static const struct protocol *const protocols[PROTOCOL_COUNT] = {
#define PROTOCOL(NAME, name) [PROTOCOL_##NAME] = &protocol_##name,
#include "protocols.def"
#undef PROTOCOL
};

const struct protocol *protocol_by_id(u32 id)
{
	return id < PROTOCOL_COUNT ? protocols[id] : NULL;
}

static bool is_of(u32 id, const u8 *bytes, size_t length, bool is_known, struct request_text *ret)
{
	const struct protocol *protocol = protocol_by_id(id);

	*ret = (struct request_text){0}; /* nothing of the one that was asked before */
	return protocol && protocol->request(bytes, length, is_known, ret);
}

u32 protocol_of_request(const u8 *bytes, size_t length, u32 known, struct request_text *ret)
{
	if (is_of(known, bytes, length, true, ret))
		return known;
	for (u32 id = PROTOCOL_UNKNOWN + 1; id < PROTOCOL_COUNT; id++)
		if (id != known && is_of(id, bytes, length, false, ret))
			return id;
	*ret = (struct request_text){0};
	return PROTOCOL_UNKNOWN;
}
