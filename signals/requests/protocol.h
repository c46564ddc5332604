/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the first bytes of a request and of its answer say: which protocol, which endpoint, which
 * status. Plain C over a buffer with a length, which an enemy wrote. Nothing of what clients send
 * as a value leaves: no literal, no id, no key, no argument. Called by the signal of requests, in
 * the unprivileged process. To add a protocol: its file, and its row in protocols.def.
 */
#ifndef DWELL_REQUESTS_PROTOCOL_H
#define DWELL_REQUESTS_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>

#include "../../abi/types.h"

#define ENDPOINT_BYTES 80 /* with NUL; a longer one is cut, ended by "..." */
#define STATUS_BYTES   24 /* likewise */
#define TRACE_BYTES    16

enum request_kind {
	REQUEST_ASKS,	 /* a request */
	REQUEST_SETS_UP, /* the connection is set up: log-in, TLS; an endpoint of its own */
	REQUEST_TELLS,	 /* a message that has no answer, such as the end of a connection */
};

struct request_text {
	enum request_kind kind;
	char endpoint[ENDPOINT_BYTES]; /* "GET /users/:id", "SELECT accounts", "SET"; printable */
	u64 length; /* of the whole first request; 0: not known. More was sent: several requests */
	u8 trace[TRACE_BYTES]; /* of which the client says that it is; all 0: of none */
	u64 set_up_bytes; /* what is set up ends there, and a request may follow; 0: not known */
};

struct answer_text {
	bool is_error;
	char status[STATUS_BYTES]; /* "200", "42P01", "ERR", "1064"; "": not known. Printable */
};

struct protocol {
	const char *name; /* "http", "postgresql" */

	/*
	 * True: these bytes open a request of the protocol. length is at most 256; more of the
	 * request may have been sent than is here. A protocol refuses what it is not sure of,
	 * unless is_known: the connection has spoken it before.
	 */
	bool (*request)(const u8 *bytes, size_t length, bool is_known, struct request_text *ret);

	/* True: these bytes open an answer of the protocol. */
	bool (*answer)(const u8 *bytes, size_t length, struct answer_text *ret);

	/* The message by which a client ends a connection: known by its length alone. 0: none. */
	u64 farewell_bytes;
	const char *farewell; /* its endpoint */
};

#define PROTOCOL(NAME, name) extern const struct protocol protocol_##name;
#include "protocols.def"
#undef PROTOCOL

enum protocol_id {
	PROTOCOL_UNKNOWN,
#define PROTOCOL(NAME, name) PROTOCOL_##NAME,
#include "protocols.def"
#undef PROTOCOL
	PROTOCOL_COUNT
};

/* By enum protocol_id; NULL for PROTOCOL_UNKNOWN. */
const struct protocol *protocol_by_id(u32 id);

/*
 * Which protocol the bytes are of; `known` is asked first, and alone may take what is ambiguous.
 * PROTOCOL_UNKNOWN: none of them, and ret is an empty request.
 */
u32 protocol_of_request(const u8 *bytes, size_t length, u32 known, struct request_text *ret);

#endif
