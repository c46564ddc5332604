/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a receiver of OTLP answered: the status line of HTTP, and in the body what it rejected. It
 * comes from anywhere: read by the process without privileges that sends. Owns nothing.
 */
#ifndef DWELL_CMD_EXPORT_REPLY_H
#define DWELL_CMD_EXPORT_REPLY_H

#include <stddef.h>

#include "../../abi/types.h"

#define EXPORT_REPLY_MAX 8192 /* bytes that are read of one; more is not looked at */
#define REPLY_TEXT_BYTES 400

struct export_reply {
	int status;		     /* of HTTP; 0: it is no answer */
	u64 rejected;		     /* profiles or data points */
	char line[REPLY_TEXT_BYTES]; /* the status line, fit to be shown */
	char text[REPLY_TEXT_BYTES]; /* why, in the receiver's words, fit to be shown; "": nothing
				      */
};

void export_reply_parse(const char *bytes, size_t size, struct export_reply *ret_reply);

#endif
