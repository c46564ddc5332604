// SPDX-License-Identifier: Apache-2.0
/* An answer of a receiver of OTLP, as `dwell export --to` reads it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../src/cmd/export_reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct export_reply reply;

	if (size > EXPORT_REPLY_MAX)
		return 0;
	export_reply_parse((const char *)data, size, &reply);
	if (strnlen(reply.line, sizeof(reply.line)) == sizeof(reply.line) ||
	    strnlen(reply.text, sizeof(reply.text)) == sizeof(reply.text) || reply.status < 0 ||
	    reply.status > 999)
		abort();
	return 0;
}
