// SPDX-License-Identifier: Apache-2.0
/* What a request and a call have alike: who, when, its name, and how it ended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/utf8.h"
#include "../store/query.h"
#include "requests.h"

#define LISTENING "listening on "
#define IN_TLS	  "+tls"
#define GRPC	  "grpc "

void request_read_text(sqlite3_stmt *row, int column, char *to, size_t size)
{
	char text[REQUEST_NAME_BYTES];

	query_text(row, column, text, size < sizeof(text) ? size : sizeof(text));
	utf8_escape(to, size, text);
}

static void read_name(sqlite3_stmt *row, struct request_side *side)
{
	request_read_text(row, 9, side->name, sizeof(side->name));
	if (*side->name)
		return;
	snprintf(side->name, sizeof(side->name), "%s",
		 *side->protocol ? side->protocol : "(not recognised)");
}

void request_protocol(const struct request_side *side, char buf[REQUEST_WORD_BYTES])
{
	size_t length = strlen(side->protocol), tls = strlen(IN_TLS);

	snprintf(buf, REQUEST_WORD_BYTES, "%s", side->protocol);
	if (length > tls && !strcmp(buf + length - tls, IN_TLS))
		buf[length - tls] = '\0';
}

s64 request_grpc_status(const struct request_side *side)
{
	return strncmp(side->status, GRPC, strlen(GRPC)) != 0
		       ? -1
		       : strtol(side->status + strlen(GRPC), NULL, 10);
}

/*
 * An answer is an error as the report counts them: HTTP from 400 on, gRPC other than 0, others by
 * their own word.
 */
static bool is_error(const struct request_side *side)
{
	char protocol[REQUEST_WORD_BYTES];

	if (!side->is_answered)
		return strcmp(side->outcome, "open") != 0;
	request_protocol(side, protocol);
	if (!strcmp(protocol, "http2") && request_grpc_status(side) >= 0)
		return request_grpc_status(side) != 0;
	if (!strcmp(protocol, "http") || !strcmp(protocol, "http2"))
		return *side->status >= '4' && *side->status <= '9';
	return *side->status && strcmp(side->status, "OK") != 0;
}

void request_read_side(sqlite3_stmt *row, struct request_side *side)
{
	char server[REQUEST_ADDRESS_BYTES];

	*side = (struct request_side){
		.id = query_u64(row, 0),
		.pid = query_count(row, 1),
		.start_ns = query_count(row, 2),
		.tid = query_count(row, 3),
		.begin_ns = query_count(row, 4),
		.sent = query_count(row, 5),
		.received = query_count(row, 6),
		.port = query_count(row, 7),
		.client_port = query_count(row, 8),
	};
	request_read_text(row, 10, side->protocol, sizeof(side->protocol));
	request_read_text(row, 11, side->status, sizeof(side->status));
	request_read_text(row, 12, side->outcome, sizeof(side->outcome));
	request_read_text(row, 13, server, sizeof(server));
	snprintf(side->server, sizeof(side->server), "%s",
		 server + (strncmp(server, LISTENING, strlen(LISTENING)) ? 0 : strlen(LISTENING)));
	read_name(row, side);
	side->is_answered = !strcmp(side->outcome, "answered");
	side->is_error = is_error(side);
}
