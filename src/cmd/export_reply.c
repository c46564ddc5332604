// SPDX-License-Identifier: Apache-2.0
#include "export_reply.h"

#include <string.h>

#include "../base/utf8.h"
#include "proto/otlp.pb-c.h"

#define LINE_BYTES                                                                                 \
	100 /* of foreign text that is shown: escaped, it is up to four times as long              \
	     */

static void show(char to[REPLY_TEXT_BYTES], const char *text, size_t length)
{
	char plain[LINE_BYTES];

	utf8_copy(plain, sizeof(plain), text, length);
	utf8_escape(to, REPLY_TEXT_BYTES, plain);
}

/* "HTTP/1.1 200 OK": 200 */
static int parse_status(const char *line, size_t length)
{
	int status = 0;

	if (length < 12 || memcmp(line, "HTTP/1.", 7) != 0 || line[8] != ' ')
		return 0;
	for (size_t i = 9; i < 12; i++) {
		if (line[i] < '0' || line[i] > '9')
			return 0;
		status = status * 10 + (line[i] - '0');
	}
	return status;
}

static void parse_body(const char *body, size_t size, struct export_reply *reply)
{
	Otlp__ExportServiceResponse *response =
		otlp__export_service_response__unpack(NULL, size, (const uint8_t *)body);
	const Otlp__ExportPartialSuccess *partial = response ? response->partial_success : NULL;

	if (partial && partial->rejected > 0)
		reply->rejected = (u64)partial->rejected;
	if (partial && partial->error_message)
		show(reply->text, partial->error_message, strlen(partial->error_message));
	if (response)
		otlp__export_service_response__free_unpacked(response, NULL);
}

void export_reply_parse(const char *bytes, size_t size, struct export_reply *ret_reply)
{
	const char *line_end = memchr(bytes, '\n', size);
	const char *body = memmem(bytes, size, "\r\n\r\n", 4);
	size_t length = line_end ? (size_t)(line_end - bytes) : size;

	*ret_reply = (struct export_reply){0};
	if (length && bytes[length - 1] == '\r')
		length--;
	show(ret_reply->line, bytes, length);
	ret_reply->status = parse_status(bytes, length);
	/* Only what says that it was taken has such a body. */
	if (body && ret_reply->status >= 200 && ret_reply->status < 300)
		parse_body(body + 4, size - (size_t)(body + 4 - bytes), ret_reply);
}
