/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The endpoint and the status of a stream of HTTP/2, by the fields of its header blocks. gRPC is
 * such a stream, with a status of its own in the last block. Owns nothing. Called by h2_book.c.
 */
#ifndef DWELL_REQUESTS_HPACK_NAMES_H
#define DWELL_REQUESTS_HPACK_NAMES_H

#include "hpack.h"
#include "protocol.h"

/* False: it cannot be named; then it is "(h2, unnamed)". */
bool hpack_name_request(const struct hpack_fields *request, struct request_text *ret);

/* trailer: of the block that ends the answer, or no fields. */
void hpack_name_answer(const struct hpack_fields *request, const struct hpack_fields *answer,
		       const struct hpack_fields *trailer, struct answer_text *ret);

#endif
