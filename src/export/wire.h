/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of protobuf (proto/, packed by protobuf-c) on their way into a file, gzipped or plain. A
 * file of protobuf is one message, and the bytes of two messages, one after the other, are those of
 * one with the fields of both: so a large message goes out in parts, each with a field or two, and
 * no more than a part is in memory. Owns its buffer. Called by exporters.
 */
#ifndef DWELL_EXPORT_WIRE_H
#define DWELL_EXPORT_WIRE_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stdio.h>
#include <zlib.h>

#include "../../abi/types.h"

#define WIRE_HELD_BYTES 16384

struct wire {
	ProtobufCBuffer base; /* first: protobuf-c gives it back to us */
	FILE *out;
	bool is_gzip;
	z_stream stream;
	size_t held_bytes; /* that wait to be written */
	u8 held[WIRE_HELD_BYTES];
};

/* An optional number of a message, set; message is a variable, as it is evaluated twice. */
#define WIRE_SET(message, field, value) ((message)->field = (value), (message)->has_##field = 1)

/* It must stay where it is: 0 or -ENOMEM. */
int wire_begin(struct wire *wire, FILE *out, bool is_gzip);
void wire_put(struct wire *wire, const ProtobufCMessage *message);
void wire_end(struct wire *wire);

#endif
