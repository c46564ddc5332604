/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protobuf, as much as pprof needs: varints, bytes, packed numbers. Ours, since the format's whole
 * grammar is three functions, and a library for it would be larger than all exporters together.
 * A message is built in memory and goes out gzipped. Owns its bytes. Called by pprof.c.
 */
#ifndef DWELL_EXPORT_PROTO_H
#define DWELL_EXPORT_PROTO_H

#include <stdbool.h>
#include <stdio.h>
#include <zlib.h>

#include "../../abi/types.h"

struct proto {
	u8 *bytes;
	size_t size, capacity;
	bool has_failed; /* no memory: the rest does nothing */
};

void proto_free(struct proto *proto);
void proto_number(struct proto *proto, u32 field, u64 value); /* 0 is left out, as the default */
void proto_bytes(struct proto *proto, u32 field, const void *bytes, size_t size);
void proto_message(struct proto *proto, u32 field, const struct proto *message);
void proto_packed(struct proto *proto, u32 field, const u64 *values, size_t count);

/* A gzip stream into a file. */
struct gzip {
	z_stream stream;
	FILE *out;
};

int gzip_begin(struct gzip *gzip, FILE *out); /* 0 or -ENOMEM */
/* Writes and empties the message. */
void gzip_write(struct gzip *gzip, struct proto *proto);
void gzip_end(struct gzip *gzip);

#endif
