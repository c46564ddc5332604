/* SPDX-License-Identifier: Apache-2.0 */
/* A trace context as a thread publishes it for readers outside of its process: OpenTelemetry's OTEP
 * 4947. */
#ifndef TEST_CONTEXT_H
#define TEST_CONTEXT_H

#include <stdint.h>

struct trace_context {
	uint8_t trace_id[16];
	uint8_t span_id[8];
	uint8_t valid;
	uint8_t reserved;
	uint16_t attrs_data_size;
	uint8_t attrs_data[4];
};

/* NULL: this thread works for nobody. */
void publish_context(struct trace_context *context);

#endif
